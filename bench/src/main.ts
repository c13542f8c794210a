/** `npm run bench`: figures of this machine, as JSON lines. A shared machine varies by half: compare, do not judge. */
import { measureConsole } from "./console/measure.ts";
import { measureManifest } from "./manifest.ts";
import { measureRates } from "./rates.ts";
import { measureFleet } from "./whole-fleet.ts";

const USAGE = [
  "npm run bench -- [jobs]               rates of the queue itself",
  "npm run bench -- fleet [rows]         a batch through the whole fleet: rate, and peak memory of every process",
  "npm run bench -- manifest [rows]      reading a manifest: rate, and peak memory",
  "npm run bench -- console [jobs]       the operators' API over a deep tree: every page, and one order to many jobs",
].join("\n");

/** Memory and pages have a limit, unlike rates: false = something was above it. */
async function run(what: string, count: number | undefined): Promise<boolean> {
  switch (what) {
    case "fleet":
      return await measureFleet(count ?? 10_000);
    case "manifest":
      return await measureManifest(count ?? 1_000_000);
    case "console":
      return await measureConsole(count ?? 100_000);
    default:
      if (!/^\d*$/.test(what)) throw new Error(USAGE);
      await measureRates(what === "" ? 5_000 : Number(what));
      return true;
  }
}

const [what = "", count] = process.argv.slice(2);
process.exitCode = (await run(what, count === undefined ? undefined : Number(count))) ? 0 : 1;
