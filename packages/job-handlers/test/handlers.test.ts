import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import type { HandlerSpec } from "@sluice/wire";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type Handlers, openHandlers } from "../src/index.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
let zk: TestZooKeeper;
let tenant = "";
let handlers: Handlers;
const sessions: Session[] = [];

beforeAll(async () => {
  zk = await testZooKeeper();
});
beforeEach(async () => {
  tenant = `t-${randomUUID()}`;
  handlers = await opened();
});
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
});

async function opened(): Promise<Handlers> {
  const session = await connectSession({ connect: zk.connect, timeoutMs: 10_000 });
  sessions.push(session);
  const result = await openHandlers(session, { nowMs: () => NOW, newId: randomUUID });
  if (!result.ok) throw new Error(result.why);
  return result.handlers;
}

const node = (body: string): HandlerSpec => ({ lang: "node", body });
const bodyOf = async (type: string, of = tenant): Promise<string | null> => {
  const found = await handlers.get(of, type);
  return found === null || found === "silence" ? found : found.body;
};

test("the newest version wins, and a version in the name is that one", async () => {
  for (const body of ["one", "two", "three"]) await handlers.put(tenant, "resize", node(body), "ada");
  expect(await bodyOf("resize")).toBe("three");
  expect(await bodyOf("resize@2")).toBe("two");
  expect(await bodyOf("resize@9")).toBe(null);
  expect(await handlers.get(tenant, "resize@1")).toMatchObject({ version: 1, tenant, by: "ada", type: "resize" });
});

test("a tenant sees its own alone", async () => {
  await handlers.put(tenant, "resize", node("mine"), "ada");
  expect(await bodyOf("resize", "another")).toBe(null);
  expect(await handlers.list("another")).toEqual([]);
});

test.each(["fleet/clean-up", "..", ".", "größe?*[a]", "a@b", "x".repeat(255), "%2F"])(
  "a type may be called %s",
  async (type) => {
    expect(await handlers.put(tenant, type, node("it"), "ada")).toMatchObject({ ok: true, handler: { type } });
    expect(await bodyOf(type)).toBe("it");
    const listed = await handlers.list(tenant);
    expect(listed === "silence" ? listed : listed.map((each) => each.type)).toEqual([type]);
  },
);

test.each([
  ["", "a type has 1 to 255 bytes"],
  ["ö".repeat(128), "a type has 1 to 255 bytes"],
  ["resize@3", "@ and a number at the end of a type name a version"],
  ["\ud800", "a type is Unicode"],
])("a type may not be called %j", async (type, detail) => {
  expect(await handlers.put(tenant, type, node("it"), "ada")).toEqual({ ok: false, why: "invalid", detail });
});

test("what is larger than a node may be is refused, just below it is taken", async () => {
  const put = (bytes: number) => handlers.put(tenant, "large", node("x".repeat(bytes)), "ada");
  expect(await put(60 * 1024)).toEqual({ ok: false, why: "invalid", detail: "a handler has at most 61440 bytes" });
  expect(await put(60 * 1024 - 400)).toMatchObject({ ok: true });
});

test("versions are numbered on after a deletion, and the oldest of many go", async () => {
  await handlers.put(tenant, "resize", node("one"), "ada");
  await handlers.put(tenant, "resize", node("two"), "ada");
  expect(await handlers.remove(tenant, "resize@1", "ada")).toEqual([1]);
  expect(await bodyOf("resize")).toBe("two");
  expect(await handlers.remove(tenant, "resize", "ada")).toEqual([2]);
  expect(await bodyOf("resize")).toBe(null);
  expect(await handlers.remove(tenant, "resize", "ada")).toEqual([]);
  for (let n = 0; n < 22; n++) await handlers.put(tenant, "resize", node(`again ${n}`), "ada");
  const listed = await handlers.list(tenant);
  if (listed === "silence") throw new Error(listed);
  expect(listed.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, at) => at + 5));
});

test("of many who put at once each makes a version of its own", async () => {
  const other = await opened();
  const puts = Array.from({ length: 12 }, (_, n) =>
    (n % 2 === 0 ? handlers : other).put(tenant, "raced", node(`${n}`), "ada"),
  );
  const versions = (await Promise.all(puts)).map((put) => (put.ok ? put.handler.version : put.why));
  expect([...versions].sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
});

test("whoever watches hears of every change that they have not seen", async () => {
  const other = await opened();
  let seen: string | null = null;
  const look = async (): Promise<void> => {
    seen = await bodyOf("resize");
  };
  const stop = handlers.watch(() => void look());
  for (const body of ["one", "two"]) {
    await other.put(tenant, "resize", node(body), "ada");
    await waitFor(() => seen === body);
  }
  await other.remove(tenant, "resize", "ada");
  await waitFor(() => seen === null);
  stop();
});

test("a type that jobs were added for is known before it has a handler, and after", async () => {
  const known = async (): Promise<readonly string[]> => {
    const types = await handlers.types();
    return types === "silence" ? ["silence"] : [...(types.get(tenant) ?? [])].sort();
  };
  const others = await Promise.all(Array.from({ length: 5 }, opened));
  expect(await Promise.all(others.map((other) => other.expect(tenant, "greet@2")))).toEqual(others.map(() => true));
  expect(await known()).toEqual(["greet"]);
  expect(await bodyOf("greet")).toBe(null);

  expect(await handlers.put(tenant, "greet", node("hello"), "ada")).toMatchObject({ handler: { version: 1 } });
  await handlers.remove(tenant, "greet", "ada");
  expect(await handlers.put(tenant, "greet", node("again"), "ada")).toMatchObject({ handler: { version: 2 } });
  expect(await handlers.expect(tenant, "greet")).toBe(true);
  expect(await known()).toEqual(["greet"]);
  expect(await bodyOf("greet")).toBe("again");
});

test.each(["http", "container", "php"])(
  "a handler in %s declares no hosts: only node's could ask them",
  async (lang) => {
    const spec = { lang, body: "it", allow: { network: ["a.example:443"] } };
    expect(await handlers.put(tenant, "resize", spec, "ada")).toEqual({
      ok: false,
      why: "invalid",
      detail: `allow.network is for node handlers: ${lang} handlers cannot ask hosts`,
    });
  },
);
