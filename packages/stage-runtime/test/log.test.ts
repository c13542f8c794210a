/** A key that stands in a line twice is lost to whoever reads it: which of the two counts is not said anywhere. */
import { jobId } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import { expect, test } from "@jest/globals";
import { done, type Log, makeLog, retry } from "../src/index.ts";
import { downloading, World } from "./support/world.ts";

function logTo(lines: string[]): Log {
  return makeLog("downloader", "debug", { write: (line: string) => void lines.push(line) });
}

/** The keys of the outermost object, each as often as it stands there. */
function keysOf(line: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  for (const [token, key] of line.matchAll(/"((?:[^"\\]|\\.)*)"(?=\s*:)|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (key !== undefined && depth === 1) keys.push(key);
  }
  return keys;
}

const doubled = (lines: readonly string[]): string[] =>
  lines.filter((line) => new Set(keysOf(line)).size < keysOf(line).length);

test("a child binds anew what its parent had bound, and a line does not repeat it", () => {
  const lines: string[] = [];
  const log = logTo(lines).child({ worker: "w", batch_id: "a" }).child({ batch_id: "b" });
  log.info({ worker: "w", batch_id: "other", level: "mine", count: 1 }, "said");
  expect(doubled(lines)).toEqual([]);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    service: "downloader",
    worker: "w",
    batch_id: "b",
    line_batch_id: "other",
    line_level: "mine",
    level: "info",
    count: 1,
    msg: "said",
  });
});

test("a service logs each claim and takeover with its ids, and no line has a key twice", async () => {
  const world = await World.make();
  const lines: string[] = [];
  const lost = { fleetJob: { attempts: 1, claimed: [1, "w-lost"] as [number, string] } };
  await world.addJob({ number: 1 });
  await world.addJob({ number: 2, ...lost });
  const stage = downloading((job) => Promise.resolve(job.attempt === 1 ? retry("UNEXPECTED", "once", 1) : done()));
  const { recorder } = world.start("downloader", [stage], { WORKER_ID: "w-1" }, {}, { log: logTo(lines) });
  await recorder.settled(3);
  await world.close();
  await waitFor(() => lines.some((line) => line.includes('"stopped"')));
  const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const about = { worker: "w-1", batch_id: "bid0000000001" };
  expect(said).toContainEqual(expect.objectContaining({ msg: "job claimed", ...about, job_id: jobId(1), attempt: 1 }));
  expect(said).toContainEqual(
    expect.objectContaining({ ...about, job_id: jobId(2), attempt: 2, lost_worker: "w-lost", level: "warn" }),
  );
  expect(doubled(lines)).toEqual([]);
});
