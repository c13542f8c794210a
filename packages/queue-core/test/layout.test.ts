/** Which trees a program works on. */
import { expect, test } from "@jest/globals";
import { openRawSession, testWorker, testZooKeeper } from "@sluice/testkit";
import { initTree, knownEvent, LAYOUT, paths, records } from "../src/index.ts";
import { claimed, moved } from "../src/fleet-job.ts";

test("a tree of another layout is refused with its number; one from before there was a number is taken", async () => {
  const { connect } = await testZooKeeper();
  const worker = await testWorker(connect, "recorder", { register: false });
  const raw = await openRawSession(connect);
  expect((await raw.get(paths.layout)) as unknown).toMatchObject({ value: { data: Buffer.from(String(LAYOUT)) } });
  await raw.multi([{ op: "set", path: paths.layout, data: Buffer.from("2"), version: 0 }]);
  expect(await initTree(worker.ctx)).toMatchObject({ ok: false, problem: expect.stringContaining("layout 2") });
  await raw.multi([{ op: "delete", path: paths.layout, version: 1 }]);
  expect(await initTree(worker.ctx)).toMatchObject({ ok: true });
  await Promise.all([raw.close(), worker.close()]);
});

test("what a newer version keeps in a job's history survives claims and moves", () => {
  const newer = records.fleetJob.decode(
    Buffer.from('{"attempts":0,"lane":{"of":"newer"},"events":[["a",1,"verified","Verifying","w"]]}'),
  );
  if (!newer.ok) throw new Error(newer.problem);
  const event = { op: "b", atMs: 2_000, kind: "done", state: "Recording", by: "w" } as const;
  const claim = { op: "c", atMs: 1_000, state: "Recording", worker: "w", token: 1 } as const;
  const after = moved(claimed(newer.value, claim), event);
  expect(after).toMatchObject({ attempts: 0, lane: { of: "newer" } });
  expect(after).not.toHaveProperty("claimed");
  expect(after.events.map((each) => [each[0], knownEvent(each)?.kind ?? null])).toEqual([
    ["a", null],
    ["b", "done"],
  ]);
});
