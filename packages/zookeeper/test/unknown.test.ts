import { describe, expect, test } from "@jest/globals";
import { resolveUnknown, type Answer, type Op, type Session } from "../src/index.ts";
import { OPCODE } from "../src/wire/codes.ts";
import { text, useZooKeeper } from "./support/bundle.ts";
import { opcodeOf, pass, xidOf, type FaultProxy } from "./support/fault-proxy.ts";

const zk = useZooKeeper();
const create: Op = { op: "create", path: "/claim", data: text("mine") };

async function setUp() {
  const proxy = await zk.proxy();
  const session = await zk.session({ connect: proxy.address + (await zk.freshChroot()) });
  return { proxy, session };
}

/** The verdict of a claim: is it mine? */
async function isMine(session: Session): Promise<Answer<boolean>> {
  const seen = await session.get("/claim");
  if (seen.ok) return { ok: true, value: seen.value.data.equals(text("mine")) };
  return seen.code === "NO_NODE" ? { ok: true, value: false } : seen;
}

/** Cuts the connection at the next multi: before the server has it, or after it has carried it out. */
function loseNextMulti(proxy: FaultProxy, when: "before" | "after"): void {
  proxy.onRequest = (frame) => {
    if (opcodeOf(frame) !== OPCODE.multi) return "pass";
    proxy.onRequest = pass;
    if (when === "before") {
      proxy.cut();
      return "swallow";
    }
    const xid = xidOf(frame);
    proxy.onReply = (reply) => {
      if (xidOf(reply) !== xid) return "pass";
      proxy.onReply = pass;
      proxy.cut();
      return "swallow";
    };
    return "pass";
  };
}

describe("an unknown answer", () => {
  test.each([
    ["before", false],
    ["after", true],
  ] as const)("lost %s the server carried it out is resolved as %s", async (when, applied) => {
    const { proxy, session } = await setUp();
    loseNextMulti(proxy, when);
    expect(await session.multi([create])).toMatchObject({ code: "UNKNOWN" });
    expect(await resolveUnknown(session, isMine)).toEqual({ ok: true, value: applied });
  });

  test("is resolved though the connection breaks again at the barrier and at the look", async () => {
    const { proxy, session } = await setUp();
    loseNextMulti(proxy, "after");
    await session.multi([create]);
    loseNextMulti(proxy, "after");
    let looks = 0;
    const verdict = await resolveUnknown(session, (same) => {
      if ((looks += 1) === 1) proxy.cut();
      return isMine(same);
    });
    expect(verdict).toEqual({ ok: true, value: true });
    expect(looks).toBeGreaterThan(1);
  });

  test("is dropped when the session is lost first", async () => {
    const { proxy, session } = await setUp();
    loseNextMulti(proxy, "after");
    proxy.accept(false);
    expect(await session.multi([create])).toMatchObject({ code: "UNKNOWN" });
    expect(await resolveUnknown(session, isMine)).toEqual({ ok: false, why: "lost" });
  });

  test("stays unresolved, and is not asked for for ever, if looking never works", async () => {
    const { session } = await setUp();
    let looks = 0;
    const blind = (): Promise<Answer<boolean>> => {
      looks += 1;
      return Promise.resolve({ ok: false, code: "UNKNOWN", detail: "" });
    };
    expect(await resolveUnknown(session, blind)).toEqual({ ok: false, why: "unresolved" });
    expect(looks).toBe(10);
  });
});
