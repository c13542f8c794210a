import { describe, expect, test } from "@jest/globals";
import { openRawSession, ownZooKeeper, testZooKeeper } from "@sluice/testkit";

const EMPTY = Buffer.alloc(0);

describe("a test's ZooKeeper", () => {
  test("is an empty tree that no other test file sees", async () => {
    const [mine, other] = await Promise.all([testZooKeeper(), testZooKeeper()]);
    const session = await openRawSession(mine.connect);
    const neighbour = await openRawSession(other.connect);

    expect(await session.multi([{ op: "create", path: "/a", data: Buffer.from("1") }])).toMatchObject({ ok: true });

    expect(await session.children("/")).toMatchObject({ ok: true, value: { names: ["a"] } });
    expect(await neighbour.children("/")).toMatchObject({ ok: true, value: { names: [] } });
    expect(await neighbour.get("/a")).toMatchObject({ ok: false, code: "NO_NODE" });
    await Promise.all([session.close(), neighbour.close()]);
  });

  test("refuses a multi as a whole and names the op that was to blame", async () => {
    const { connect } = await testZooKeeper();
    const session = await openRawSession(connect);

    const answer = await session.multi([
      { op: "create", path: "/a", data: EMPTY },
      { op: "check", path: "/b" },
      { op: "create", path: "/c", data: EMPTY },
    ]);

    expect(answer).toMatchObject({ ok: false, code: "NO_NODE", index: 1 });
    expect(await session.children("/")).toMatchObject({ value: { names: [] } });
    await session.close();
  });

  test("of its own can be killed and comes back with its data at the same address", async () => {
    const server = await ownZooKeeper();
    const before = await openRawSession(server.connect);
    await before.multi([{ op: "create", path: "/kept", data: Buffer.from("yes") }]);
    const pid = server.pid;

    await server.restart();

    const after = await openRawSession(server.connect);
    expect(server.pid).not.toBe(pid);
    expect(await after.get("/kept")).toMatchObject({ ok: true, value: { data: Buffer.from("yes") } });
    await after.close();
    await server.stop();
  });
});
