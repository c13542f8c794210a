/** `sluice init`: the only command that makes a tree. */
import { expect, test } from "@jest/globals";
import { openTree, paths, type QueueContext } from "@sluice/queue-core";
import { newId, openRawSession, testZooKeeper } from "@sluice/testkit";
import { connectSession, makeCommitter, systemClock } from "@sluice/zookeeper";
import { sluice } from "./support.ts";

/** Below a root that nobody has made. */
const place = async (): Promise<string> => `${(await testZooKeeper()).connect}/new/place`;

async function within<T>(connect: string, work: (queue: QueueContext) => Promise<T>): Promise<T> {
  const session = await connectSession({ connect, timeoutMs: 10_000 });
  try {
    return await work({ session, committer: makeCommitter(session), clock: systemClock, newId });
  } finally {
    await session.close();
  }
}

test("makes the tree of a new fleet once, says which, and writes it into the audit", async () => {
  const connect = await place();
  const made = await sluice(`init --zookeeper ${connect}`);
  const opened = await within(connect, openTree);
  if (!opened.ok) throw new Error(opened.problem);
  const { fleet, epoch } = opened.identity;
  expect([made.code, made.out]).toEqual([0, `made: fleet ${fleet} at ${connect}\n`]);
  expect((await sluice(`init --zookeeper ${connect}`)).out).toBe(
    `found: fleet ${fleet}, epoch ${epoch}, at ${connect}; nothing was made\n`,
  );
  const again = await sluice(`init --zookeeper ${connect} -o json`);
  expect(JSON.parse(again.out)).toEqual({ fleet, epoch, fleet_id: opened.identity.history, made: false });
  const audit = await within(connect, ({ session }) => session.children(paths.auditRecords));
  expect(audit.ok && audit.value.names).toHaveLength(1);
});

test("makes nothing beside Merritt's own queue, in an unfinished tree, or without being told where", async () => {
  const { connect } = await testZooKeeper();
  const session = await openRawSession(connect);
  await session.multi([{ op: "create", path: "/jobs", data: Buffer.alloc(0) }]);
  const merritts = await sluice(`init --zookeeper ${connect}`);
  expect([merritts.code, merritts.err]).toEqual([4, expect.stringContaining("sluice import")]);
  for (const path of ["/fleet", paths.restoring]) await session.multi([{ op: "create", path, data: Buffer.alloc(0) }]);
  await session.close();
  const restoring = await sluice(`init --zookeeper ${connect}`);
  expect([restoring.code, restoring.err]).toEqual([4, expect.stringContaining("restore again")]);
  expect((await sluice("init")).code).toBe(64);
});
