import { describe, expect, test } from "@jest/globals";
import { text, useZooKeeper } from "./support/bundle.ts";
import { opcodeOf } from "./support/fault-proxy.ts";
import { OPEN_ACCESS, RIGHTS } from "../src/index.ts";
import { OPCODE } from "../src/wire/codes.ts";

const zk = useZooKeeper();

describe("a session", () => {
  test("writes and reads back through its chroot", async () => {
    const chroot = await zk.freshChroot();
    const session = await zk.session({ connect: zk.server.connect + chroot });
    const made = await session.multi([
      { op: "create", path: "/a", data: text("one") },
      { op: "set", path: "/a", data: text("two"), version: 0 },
      { op: "create", path: "/a/b", data: text(""), ephemeral: true },
      { op: "check", path: "/a", version: 1 },
    ]);
    expect(made).toMatchObject({ ok: true, stats: [null, { version: 1, dataLength: 3 }, null, null] });
    const outside = await zk.session({ connect: zk.server.connect });
    const seen = await outside.get(`${chroot}/a`);
    expect(seen.ok && seen.value.data.toString()).toBe("two");
    const child = await session.exists("/a/b");
    expect(child.ok && child.value?.ephemeralOwner).toBe(session.id);
    expect(await session.children("/a")).toMatchObject({ ok: true, value: { names: ["b"], stat: { numChildren: 1 } } });
  });

  test("reads more than one request may hold, in the order asked", async () => {
    const session = await zk.session();
    await session.multi([{ op: "create", path: "/last", data: text("here") }]);
    const reads = Array.from({ length: 2_600 }, (_, i) => ({ get: `/${"long".repeat(50)}-${i}` }));
    const answer = await session.readMany([...reads, { get: "/last" }]);
    if (!answer.ok) throw new Error(answer.detail);
    expect(answer.value).toHaveLength(2_601);
    expect(answer.value.slice(0, -1).every(({ kind }) => kind === "none")).toBe(true);
    expect(answer.value.at(-1)).toMatchObject({ kind: "node" });
  });

  test("cannot make a node for its owners if the server knows none: nothing is left open by mistake", async () => {
    const access = { ...OPEN_ACCESS, aclOf: () => [{ permissions: RIGHTS.all, scheme: "auth", id: "" }] };
    const session = await zk.session({ access });
    const answer = await session.multi([{ op: "create", path: "/a", data: text("") }]);
    expect(answer).toMatchObject({
      ok: false,
      code: "SERVER_ERROR",
      detail: expect.stringContaining("the server knows no identity of ours"),
    });
    expect(await session.exists("/a")).toEqual({ ok: true, value: null });
  });

  test("answers a refusal with the op that failed, and applies nothing of the multi", async () => {
    const session = await zk.session();
    await session.multi([{ op: "create", path: "/a", data: text("") }]);
    const answer = await session.multi([
      { op: "create", path: "/b", data: text("") },
      { op: "set", path: "/a", data: text("x"), version: 7 },
      { op: "delete", path: "/missing", version: 0 },
    ]);
    expect(answer).toEqual({ ok: false, code: "BAD_VERSION", detail: "set /a", index: 1 });
    expect(await session.exists("/b")).toEqual({ ok: true, value: null });
  });

  test("reads many nodes in one round trip, in the order asked", async () => {
    const proxy = await zk.proxy();
    const session = await zk.session({ connect: proxy.address + (await zk.freshChroot()) });
    await session.multi([
      { op: "create", path: "/a", data: text("data of a") },
      { op: "create", path: "/a/x", data: text("") },
    ]);
    const before = proxy.requests.length;
    const answer = await session.readMany([{ get: "/a" }, { get: "/none" }, { children: "/a" }, { children: "/none" }]);
    expect(answer).toMatchObject({
      ok: true,
      value: [
        { kind: "node", node: { data: text("data of a"), stat: { version: 0, numChildren: 1 } } },
        { kind: "none" },
        { kind: "children", names: ["x"] },
        { kind: "none" },
      ],
    });
    const asked = proxy.requests.slice(before).map(opcodeOf);
    expect(asked.filter((opcode) => opcode !== OPCODE.ping)).toEqual([OPCODE.multiRead]);
  });

  test("takes a refusal to tell of one node for no answer at all, never for a node that is not there", async () => {
    const session = await zk.session({ connect: zk.server.connect + (await zk.freshChroot()) });
    await session.multi(["/a", "/secret"].map((path) => ({ op: "create", path, data: text("") })));
    expect(
      await session.setAcl("/secret", [{ permissions: RIGHTS.write, scheme: "world", id: "anyone" }], 0),
    ).toMatchObject({ ok: true });
    expect(await session.readMany([{ get: "/a" }, { get: "/secret" }, { get: "/none" }])).toEqual({
      ok: false,
      code: "NO_AUTH",
      detail: "get /secret",
    });
    expect(await session.readMany([{ children: "/a" }, { children: "/secret" }])).toMatchObject({ code: "NO_AUTH" });
    expect(await session.readEach([{ get: "/a" }, { get: "/secret" }, { get: "/none" }])).toMatchObject({
      ok: true,
      value: [{ kind: "node" }, { kind: "error", code: "NO_AUTH" }, { kind: "none" }],
    });
  });
});
