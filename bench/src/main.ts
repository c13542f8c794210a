/** `npm run bench`: figures of this machine, as JSON lines. A shared machine varies by half: compare, do not judge. */
import { parseArgs } from "node:util";
import { measureArchive } from "./archive.ts";
import { measureConsole } from "./console/measure.ts";
import { measureItems } from "./depth/items.ts";
import { measureDepth } from "./depth/measure.ts";
import { measureEndurance } from "./endurance.ts";
import { measureJournal } from "./job-journal.ts";
import { measureShard } from "./job-shard.ts";
import { measureManifest } from "./manifest.ts";
import { measureRates } from "./rates.ts";
import { measureTurns } from "./turns.ts";
import { measureWaiter } from "./waiter.ts";
import { measureFleet } from "./whole-fleet.ts";

const USAGE = [
  "npm run bench -- [jobs]               rates of the queue itself",
  "npm run bench -- fleet [rows]         a batch through the whole fleet: rate, and peak memory of every process",
  "npm run bench -- manifest [rows]      reading a manifest: rate, and peak memory",
  "npm run bench -- console [jobs]       the operators' API over a deep tree: every page, and one order to many jobs",
  "npm run bench -- depth [rounds] [--json FILE]   what a claim costs beside 1,000, 10,000 and 100,000 jobs that wait",
  "npm run bench -- items [rounds]       what an item of an inbox costs beside 500, 60,000 and 130,000 others",
  "npm run bench -- shard [cycles]       one shard of the general job queue: whole cycles, jobs that wait, a takeover",
  "npm run bench -- endurance [minutes]  1,000 jobs a second through one shard: nothing may grow",
  "npm run bench -- turns [types]        whose turn it is among so many types that wait: processor time of one look",
  "npm run bench -- archive [runs]       what is asked of a history of so many runs: processor time of one page",
  "npm run bench -- waiter [requests]    what an owner keeps of so many answers while one caller waits",
  "npm run bench -- journal [lines]      adds through the journal of the general job queue, and taking them in",
  "npm run bench -- scaling [rounds] [folder]   a wave with and without the autoscaler: drain times; CSV and SVG (./data/scaling)",
].join("\n");

/** Memory and pages have a limit, unlike rates: false = something was above it. */
async function run(
  what: string,
  count: number | undefined,
  folder: string | undefined,
  json: string | null,
): Promise<boolean> {
  switch (what) {
    case "fleet":
      return await measureFleet(count ?? 10_000);
    case "manifest":
      return await measureManifest(count ?? 1_000_000);
    case "console":
      return await measureConsole(count ?? 100_000);
    case "depth":
      return await measureDepth({ rounds: count ?? 7, json });
    case "items":
      return await measureItems(count ?? 5);
    case "shard":
      await measureShard(count ?? 20_000);
      return true;
    case "endurance":
      return await measureEndurance(count ?? 5);
    case "turns":
      return measureTurns(count ?? 100_000);
    case "archive":
      return await measureArchive(count ?? 1_000_000);
    case "waiter":
      return await measureWaiter(count ?? 100_000);
    case "journal":
      await measureJournal(count ?? 50_000);
      return true;
    case "scaling": {
      // Not loaded for the others: they measure their own memory.
      const { measureScaling } = await import("./scaling/measure.ts");
      return await measureScaling(count ?? 1, folder ?? "data/scaling");
    }
    default:
      if (!/^\d*$/.test(what)) throw new Error(USAGE);
      await measureRates(what === "" ? 5_000 : Number(what));
      return true;
  }
}

const { values, positionals } = parseArgs({ options: { json: { type: "string" } }, allowPositionals: true });
const [what = "", count, folder] = positionals;
const numberOf = (raw: string | undefined): number | undefined => (raw === undefined ? undefined : Number(raw));
process.exitCode = (await run(what, numberOf(count), folder, values.json ?? null)) ? 0 : 1;
