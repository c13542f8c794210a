import { describe, expect, test } from "@jest/globals";
import { openRawSession, ownZooKeeper, readTransactions, testZooKeeper, touches } from "@sluice/testkit";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const data = (text: string): Buffer => Buffer.from(text);

describe("the reader of the transaction log", () => {
  test("tells each accepted change with its author, and that another was refused", async () => {
    const { connect, root, logDir } = await testZooKeeper();
    const [author, other] = await Promise.all([openRawSession(connect), openRawSession(connect)]);

    await author.multi([{ op: "create", path: "/a", data: data("one") }]);
    const applied = await author.multi([
      { op: "check", path: "/a", version: 0 },
      { op: "set", path: "/a", data: data("two"), version: 0 },
      { op: "create", path: "/a/lock", data: data(""), ephemeral: true },
    ]);
    await other.multi([{ op: "set", path: "/a", data: data("three"), version: 0 }]);
    await other.multi([{ op: "delete", path: "/a/lock", version: 0 }]);
    await Promise.all([author.close(), other.close()]);

    const log = [...readTransactions(logDir)].filter(({ session }) => session === author.id || session === other.id);
    expect(log.filter(({ kind }) => kind === "write" || kind === "refused")).toMatchObject([
      { session: author.id, ops: [{ op: "create", path: `${root}/a`, data: data("one"), ephemeral: false }] },
      {
        session: author.id,
        zxid: applied.ok ? applied.zxid : null,
        ops: [
          { op: "check", path: `${root}/a`, version: 0 },
          { op: "set", path: `${root}/a`, data: data("two"), version: 1 },
          { op: "create", path: `${root}/a/lock`, ephemeral: true },
        ],
      },
      { session: other.id, kind: "refused", ops: [] },
      { session: other.id, ops: [{ op: "delete", path: `${root}/a/lock` }] },
    ]);
    expect(log.filter(({ kind }) => kind === "create-session")).toHaveLength(2);
    expect(log.filter((transaction) => touches(transaction, `${root}/a/lock`))).toHaveLength(2);
  });

  test.each(["closed", "expired"])("tells which ephemeral nodes went when their session was %s", async (how) => {
    const { connect, root, logDir } = await testZooKeeper();
    const owner = await openRawSession(connect, { timeoutMs: 400 });
    await owner.multi([
      { op: "create", path: "/stays", data: data("") },
      { op: "create", path: "/lock", data: data(""), ephemeral: true },
      { op: "create", path: "/freed", data: data(""), ephemeral: true },
      { op: "delete", path: "/freed", version: 0 },
    ]);

    if (how === "closed") await owner.close();
    else owner.abandon();
    const watcher = await openRawSession(connect);
    while ((await watcher.get("/lock")).ok) continue;
    await watcher.close();

    const ends = [...readTransactions(logDir)].filter(
      ({ kind, session }) => kind === "close-session" && session === owner.id,
    );
    expect(ends).toMatchObject([{ ops: [{ op: "delete", path: `${root}/lock` }] }]);
  });

  test("goes on over the files that restarts begin", async () => {
    const server = await ownZooKeeper();
    for (let round = 0; round < 3; round++) {
      const session = await openRawSession(server.connect);
      await session.multi([{ op: "create", path: `/n${round}`, data: data("") }]);
      await session.close();
      await server.restart();
    }

    const paths = [...readTransactions(server.logDir)].flatMap(({ kind, ops }) => (kind === "write" ? ops : []));

    expect(paths.map(({ path }) => path)).toEqual(["/n0", "/n1", "/n2"]);
    await server.stop();
  });

  test("stops before a torn record and refuses what is no log", async () => {
    const dir = await mkdtemp(join(tmpdir(), "sluice-log-"));
    const header = Buffer.concat([data("ZKLG"), Buffer.alloc(12)]);
    const torn = Buffer.concat([header, Buffer.alloc(8), Buffer.from([0, 0, 0, 40]), Buffer.alloc(20)]);
    await writeFile(join(dir, "log.1"), torn);
    expect([...readTransactions(dir)]).toEqual([]);

    await writeFile(join(dir, "log.2"), data("this is a letter to my aunt"));
    expect(() => [...readTransactions(dir)]).toThrow("not a ZooKeeper transaction log");
    await rm(dir, { recursive: true });
  });
});
