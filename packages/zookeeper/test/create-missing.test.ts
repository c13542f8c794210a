import { sentBy, testZooKeeper, type TestZooKeeper } from "@sluice/testkit";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { connectSession, createMissing, type Session } from "../src/index.ts";

const node = (path: string) => ({ op: "create", path, data: Buffer.from(path) }) as const;
const FRAME = ["/a", "/a/b", "/a/b/c", "/d"].map(node);

let zookeeper: TestZooKeeper;
beforeEach(async () => {
  zookeeper = await testZooKeeper();
});

async function withSession<T>(act: (session: Session) => Promise<T>): Promise<T> {
  const session = await connectSession({ connect: zookeeper.connect, timeoutMs: 30_000 });
  try {
    return await act(session);
  } finally {
    await session.close();
  }
}

describe("nodes that a program needs", () => {
  test("are made once, and cost no transaction where they stand", async () => {
    const first = await withSession(async (session) => {
      expect(await createMissing(session, FRAME)).toBeNull();
      return session.id;
    });
    const second = await withSession(async (session) => {
      expect(await createMissing(session, FRAME)).toBeNull();
      expect(await session.get("/a/b/c")).toMatchObject({ ok: true, value: { data: Buffer.from("/a/b/c") } });
      return session.id;
    });
    expect([first, second].map((id) => sentBy(id, zookeeper.logDir, zookeeper.root))).toEqual([["write"], []]);
  });

  test("are completed where some of them stand", async () => {
    await withSession(async (session) => {
      expect(await session.multi(FRAME.slice(0, 2))).toMatchObject({ ok: true });
      expect(await createMissing(session, FRAME)).toBeNull();
      expect(await session.exists("/d")).toMatchObject({ ok: true, value: { version: 0 } });
    });
  });

  test("all stand when several programs make them at one moment", async () => {
    const all = Array.from({ length: 450 }, (_, n) => node(`/n${n}`));
    await withSession((one) =>
      withSession(async (other) => {
        const both = await Promise.all([one, other].map((session) => createMissing(session, all)));
        expect(both).toEqual([null, null]);
        const there = await one.children("/");
        expect(there.ok && there.value.names).toHaveLength(all.length);
      }),
    );
  });

  test("are refused with the server's reason where their parent is missing", async () => {
    expect(await withSession((session) => createMissing(session, [node("/none/below")]))).toMatchObject({
      code: "NO_NODE",
    });
  });
});
