import { describe, expect, jest, test } from "@jest/globals";
import { makeCommitter, type Move, type MoveAnswer, type MoveRank, type Op } from "../src/index.ts";
import { text } from "./support/bundle.ts";
import { scriptedSession, settled } from "./support/scripted-session.ts";

const create = (path: string): Op => ({ op: "create", path, data: text("") });
const set = (path: string, version: number, data = ""): Op => ({ op: "set", path, data: text(data), version });
const check = (path: string, version: number): Op => ({ op: "check", path, version });
const move = (rank: MoveRank, ...ops: Op[]): Move => ({ rank, ops });
const paths = (ops: readonly Op[] | undefined): string[] => (ops ?? []).map((op) => op.path);
const badVersion = (index: number): MoveAnswer => ({ ok: false, code: "BAD_VERSION", detail: "", index });

function setUp() {
  const script = scriptedSession();
  const groups: [number, string][] = [];
  const committer = makeCommitter(script.session, { onGroup: (members, outcome) => groups.push([members, outcome]) });
  return { ...script, committer, groups };
}

describe("a lone move", () => {
  test("is handed to the session in the tick in which it was submitted, with no timer armed", async () => {
    const { committer, sent } = setUp();
    const timers = (["setTimeout", "setInterval", "setImmediate"] as const).map((name) => jest.spyOn(globalThis, name));
    let nextTick = false;
    process.nextTick(() => (nextTick = true));
    void committer.submit(move("commit", create("/a")));
    await Promise.resolve();
    expect([sent.map(paths), nextTick]).toEqual([[["/a"]], false]);
    for (const timer of timers) {
      expect(timer).not.toHaveBeenCalled();
      timer.mockRestore();
    }
  });

  test("gets the stats and the index of its own ops, shared ones first", async () => {
    const { committer, answer } = setUp();
    const first = committer.submit({ rank: "claim", shared: [check("/holds", 1)], ops: [create("/a")] });
    await settled();
    await answer(badVersion(1));
    expect(await first).toEqual(badVersion(1));
  });
});

describe("moves of one tick", () => {
  test("travel in one multi: operators' first, then commits, then claims", async () => {
    const { committer, sent } = setUp();
    void committer.submit(move("claim", create("/claim")));
    void committer.submit(move("commit", create("/commit")));
    void committer.submit(move("operator", create("/operator")));
    await settled();
    expect(sent.map(paths)).toEqual([["/operator", "/commit", "/claim"]]);
  });

  test("get each the stats of their own ops", async () => {
    const { committer, answer } = setUp();
    const shared = [set("/space", 4)];
    const a = committer.submit({ rank: "claim", shared, ops: [create("/a"), set("/x", 1)] });
    const b = committer.submit({ rank: "claim", shared, ops: [set("/y", 2)] });
    await settled();
    const stat = (version: number) => ({ version }) as never;
    await answer({ ok: true, zxid: 7n, stats: [stat(5), null, stat(2), stat(3)] });
    expect(await a).toEqual({ ok: true, zxid: 7n, stats: [stat(5), null, stat(2)] });
    expect(await b).toEqual({ ok: true, zxid: 7n, stats: [stat(5), stat(3)] });
  });

  test("beyond fifty, or beyond 256 KB, go in further multis, four at a time", async () => {
    const { committer, sent, apply } = setUp();
    for (let i = 0; i < 220; i++) void committer.submit(move("claim", create(`/${i}`)));
    await settled();
    expect(sent.map((ops) => ops.length)).toEqual([50, 50, 50, 50]);
    await apply();
    expect(sent.map((ops) => ops.length)).toEqual([50, 50, 50, 50, 20]);

    const large = setUp();
    for (let i = 0; i < 5; i++) {
      void large.committer.submit(move("claim", { op: "create", path: `/${i}`, data: Buffer.alloc(100_000) }));
    }
    await settled();
    expect(large.sent.map((ops) => ops.length)).toEqual([2, 2, 1]);
  });

  test("that carry the same shared ops word for word send them once; others do not join them", async () => {
    const { committer, sent } = setUp();
    const admit = (path: string, data: string): Move => ({
      rank: "commit",
      shared: [set("/space", 4, data), check("/holds", 1)],
      ops: [create(path)],
    });
    for (const path of ["/a", "/b"]) void committer.submit(admit(path, "mine"));
    void committer.submit(admit("/c", "other"));
    await settled();
    expect(sent.map(paths)).toEqual([["/space", "/holds", "/a", "/b"]]);
  });

  test.each<[string, Op, Op]>([
    ["both write a node", set("/n", 1), set("/n", 2)],
    ["one writes what the other checks", check("/n", 1), set("/n", 1)],
    ["one checks what the other writes", set("/n", 1), check("/n", 1)],
    ["one makes what the other deletes", create("/n"), { op: "delete", path: "/n", version: 0 }],
    ["one makes a node below one that the other deletes", { op: "delete", path: "/n", version: 0 }, create("/n/x")],
    ["one makes the parent of what the other makes", create("/n/x"), create("/n")],
  ])("never share a multi if %s: the later one waits for the earlier one's answer", async (_why, first, second) => {
    const { committer, sent, apply } = setUp();
    void committer.submit(move("commit", first));
    void committer.submit(move("commit", second));
    void committer.submit(move("commit", create("/free")));
    await settled();
    expect(sent).toEqual([[first, create("/free")]]);
    await apply();
    expect(sent[1]).toEqual([second]);
  });

  test.each<[string, Op, Op]>([
    ["both check a node", check("/n", 1), check("/n", 2)],
    ["both make a node in the same directory", create("/n/a"), create("/n/b")],
    ["one writes the directory in which the other makes a node", set("/n", 1), create("/n/b")],
  ])("share a multi if %s", async (_why, first, second) => {
    const { committer, sent } = setUp();
    void committer.submit(move("commit", first));
    void committer.submit(move("commit", second));
    await settled();
    expect(sent).toEqual([[first, second]]);
  });

  test("one that writes what others' shared op checks does not join them", async () => {
    const { committer, sent, apply } = setUp();
    void committer.submit({ rank: "operator", shared: [check("/holds", 1)], ops: [set("/holds", 1)] });
    void committer.submit({ rank: "claim", shared: [check("/holds", 1)], ops: [create("/a")] });
    await settled();
    expect(sent.map(paths)).toEqual([["/holds", "/holds"]]);
    await apply();
    expect(sent.slice(1).map(paths)).toEqual([["/holds", "/a"]]);
  });

  test("do not overtake a move that waits and clashes with them", async () => {
    const { committer, sent, apply } = setUp();
    const claim = (path: string): Move => ({ rank: "claim", shared: [check("/holds", 1)], ops: [create(path)] });
    void committer.submit(claim("/a"));
    await settled();
    void committer.submit(move("operator", set("/holds", 1)));
    void committer.submit(claim("/b"));
    await settled();
    expect(sent.map(paths)).toEqual([["/holds", "/a"]]);
    await apply();
    await apply();
    expect(sent.slice(1).map(paths)).toEqual([["/holds"], ["/holds", "/b"]]);
  });
});

describe("a refusal", () => {
  test("answers the move whose op failed, and the rest goes again at once", async () => {
    const { committer, sent, answer, apply, groups } = setUp();
    const moves = ["/a", "/b", "/c"].map((path) => committer.submit(move("claim", create(path), set(`${path}/s`, 1))));
    await settled();
    await answer(badVersion(3));
    expect(await moves[1]).toEqual(badVersion(1));
    expect(sent[1]?.map((op) => op.path)).toEqual(["/a", "/a/s", "/c", "/c/s"]);
    await apply();
    expect(await Promise.all([moves[0], moves[2]])).toMatchObject([{ ok: true }, { ok: true }]);
    expect(groups).toEqual([
      [3, "refused"],
      [2, "applied"],
    ]);
  });

  test("of a shared op answers all who carry it, and only them", async () => {
    const { committer, sent, answer, apply } = setUp();
    const shared = [check("/holds", 1), set("/space", 2)];
    const carriers = ["/a", "/b"].map((path) => committer.submit({ rank: "claim", shared, ops: [create(path)] }));
    const other = committer.submit({ rank: "claim", shared: [check("/holds", 1)], ops: [create("/c")] });
    await settled();
    await answer(badVersion(1));
    expect(await Promise.all(carriers)).toEqual([badVersion(1), badVersion(1)]);
    expect(sent[1]?.map((op) => op.path)).toEqual(["/holds", "/c"]);
    await apply();
    expect(await other).toMatchObject({ ok: true });
  });

  test("halves the next groups, and success lets them grow again", async () => {
    const { committer, sent, answer, apply } = setUp();
    for (let i = 0; i < 1000; i++) void committer.submit(move("claim", create(`/${i}`)));
    await settled();
    await answer(badVersion(0));
    expect(sent.at(-1)).toHaveLength(25);
    for (let i = 0; i < 6; i++) await apply();
    expect(sent.at(-1)!.length).toBeGreaterThan(25);
    expect(sent.at(-1)!.length).toBeLessThanOrEqual(50);
  });

  test("that names no op makes each member go alone, so that it finds the one to blame", async () => {
    const { committer, sent, answer, apply } = setUp();
    const nameless: MoveAnswer = { ok: false, code: "SERVER_ERROR", detail: "", index: -1 };
    const moves = ["/a", "/b"].map((path) => committer.submit(move("claim", create(path))));
    await settled();
    await answer(nameless);
    expect(sent.slice(1).map(paths)).toEqual([["/a"], ["/b"]]);
    await answer(nameless);
    await apply();
    expect(await Promise.all(moves)).toMatchObject([nameless, { ok: true }]);
  });
});

test.each(["UNKNOWN", "NOT_SENT", "SESSION_LOST"] as const)(
  "%s answers all members alike, and nothing is sent again",
  async (code) => {
    const { committer, sent, answer } = setUp();
    const moves = ["/a", "/b"].map((path) => committer.submit(move("claim", create(path))));
    await settled();
    await answer({ ok: false, code, detail: "", index: -1 });
    expect(await Promise.all(moves)).toMatchObject([
      { code, index: -1 },
      { code, index: -1 },
    ]);
    expect(sent).toHaveLength(1);
  },
);
