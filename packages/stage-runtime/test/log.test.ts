/** A key that stands in a line twice is lost to whoever reads it: which of the two counts is not said anywhere. */
import { jobId } from "@sluice/queue-core";
import { doubledKeys, startFaultProxy, waitFor } from "@sluice/testkit";
import { expect, test } from "@jest/globals";
import { done, type Log, makeLog, retry } from "../src/index.ts";
import { downloading, World } from "./support/world.ts";

function logTo(lines: string[]): Log {
  return makeLog("downloader", "debug", { write: (line: string) => void lines.push(line) });
}

const doubled = (lines: readonly string[]): string[] => lines.filter((line) => doubledKeys(line).length > 0);

test("a key that stands twice is found at any depth, and one that stands in two objects is none", () => {
  expect(doubledKeys('{"a":{"b":1,"c":[{"d":"{\\"a\\":","d":2}]},"e":"a","a":3}')).toEqual(["a.c..d", "a"]);
  expect(doubledKeys('{"a":{"a":"a"},"b":[{"a":1},{"a":2}],"c":["a","a"]}')).toEqual([]);
});

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

test("a link to ZooKeeper that breaks again and again is told once, as a warning", async () => {
  const world = await World.make();
  const proxy = await startFaultProxy(world.connect);
  const lines: string[] = [];
  const count = (text: string): number => lines.filter((line) => line.includes(text)).length;
  const config = { ZOOKEEPER_CONNECT: proxy.connect, ZK_SESSION_TIMEOUT_MS: "20000" };
  const { recorder } = world.start(
    "downloader",
    [downloading(() => Promise.resolve(done()))],
    config,
    {},
    { log: logTo(lines) },
  );
  await recorder.until("idle");
  for (let breaks = 1; breaks <= 8; breaks++) {
    proxy.cut();
    await waitFor(() => count('"session":"connected"') > breaks);
  }
  const told = lines.filter((line) => line.includes("breaks again and again"));
  expect(told.map((line) => (JSON.parse(line) as { readonly level: string }).level)).toEqual(["warn"]);
  await world.close();
  await proxy.close();
});
