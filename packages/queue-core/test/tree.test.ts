/** Only a command makes a tree; what a tree says of itself is read by everyone. */
import { afterAll, describe, expect, test } from "@jest/globals";
import { testZooKeeper } from "@sluice/testkit";
import { connectSession, makeCommitter, type Session, systemClock } from "@sluice/zookeeper";
import {
  type FleetStamp,
  initTree,
  judgeStamp,
  nextEpoch,
  openTree,
  paths,
  type QueueContext,
  readIdentity,
  type StampVerdict,
} from "../src/index.ts";

const sessions: Session[] = [];
afterAll(() => Promise.all(sessions.map((session) => session.close())));

async function emptyTree(): Promise<QueueContext> {
  const { connect } = await testZooKeeper();
  const session = await connectSession({ connect, timeoutMs: 10_000 });
  sessions.push(session);
  let ids = 0;
  return { session, committer: makeCommitter(session), clock: systemClock, newId: () => `id-${++ids}` };
}

describe("an empty ZooKeeper", () => {
  test("is left empty by a service, which learns what to run", async () => {
    const ctx = await emptyTree();
    expect(await openTree(ctx)).toEqual({
      ok: false,
      why: "absent",
      problem: expect.stringContaining("sluice init") as unknown,
    });
    const root = await ctx.session.children("/");
    expect(root.ok && root.value.names.filter((name) => name !== "zookeeper")).toEqual([]);
  });

  test("becomes a tree by init; a second init finds the same one", async () => {
    const ctx = await emptyTree();
    const made = await initTree(ctx);
    expect(made).toMatchObject({ ok: true });
    expect(await initTree(ctx)).toEqual(made);
    expect(await openTree(ctx)).toEqual(made);
  });
});

test("a tree with Merritt's jobs and no /fleet is neither opened nor made ours: the import is named", async () => {
  const ctx = await emptyTree();
  await ctx.session.multi([{ op: "create", path: "/jobs", data: Buffer.alloc(0) }]);
  for (const attempt of [openTree, initTree]) {
    expect(await attempt(ctx)).toMatchObject({
      ok: false,
      problem: expect.stringContaining("sluice import") as unknown,
    });
  }
});

test("a tree from before there were epochs gets its first one, and keeps its name", async () => {
  const ctx = await emptyTree();
  const made = await initTree(ctx);
  if (!made.ok) throw new Error(made.problem);
  await ctx.session.multi([{ op: "delete", path: paths.fleetEpoch, version: 0 }]);
  const { history } = made.identity;
  const first = { ok: true, identity: { fleet: history, epoch: 1, history } };
  expect(await readIdentity(ctx)).toEqual(first);
  expect(await openTree(ctx)).toEqual(first);
  expect(await ctx.session.exists(paths.fleetEpoch)).toMatchObject({ ok: true, value: { version: 0 } });
});

test.each<readonly [FleetStamp | null, StampVerdict]>([
  [null, "unstamped"],
  [{ fleet: "a", epoch: 5 }, "same"],
  [{ fleet: "a", epoch: 4 }, "restored"],
  [{ fleet: "a", epoch: 6 }, "tree-is-older"],
  [{ fleet: "b", epoch: 5 }, "foreign"],
])("a stamp %j beside epoch 5 of fleet a is %s", (stamp, verdict) => {
  expect(judgeStamp(stamp, { fleet: "a", epoch: 5 })).toBe(verdict);
});

test("the next epoch is the time, and later than the one before whatever the clock says", () => {
  expect(nextEpoch(1, 1_800_000_000_500)).toBe(1_800_000_000);
  expect(nextEpoch(1_900_000_000, 1_800_000_000_000)).toBe(1_900_000_001);
});
