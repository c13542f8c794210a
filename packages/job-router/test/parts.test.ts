import { expect, test } from "@jest/globals";
import { parseNames, type Reply, type WaitingType } from "@sluice/job-queue";
import { plainCommand, readCommandFrame } from "../src/peer/frames.ts";
import { FIRST_LINE_BYTES, LineReader } from "../src/peer/lines.ts";
import { Memory } from "../src/peer/memory.ts";
import { Suspicion } from "../src/peer/suspicion.ts";
import { greeting, introduction, isProved, proofOf } from "../src/peer/trust.ts";
import { isBetterPlaced, ranking } from "../src/placement.ts";
import type { Attempt } from "../src/routing.ts";
import { Endings, endingOf } from "../src/seats/endings.ts";
import { Board, EMPTY_MS } from "../src/take/board.ts";
import { getJob } from "./support/routers.ts";

const SHARDS = Array.from({ length: 16 }, (_, shard) => shard);

test("shards are spread, and one process more or less moves only its own", () => {
  const three = SHARDS.map((shard) => ranking(shard, ["a", "b", "c"])[0]);
  expect(new Set(three).size).toBe(3);
  const two = SHARDS.map((shard) => ranking(shard, ["b", "a"])[0]);
  expect(SHARDS.filter((shard) => three[shard] !== two[shard] && three[shard] !== "c")).toEqual([]);
  for (const shard of SHARDS) expect(isBetterPlaced(shard, "a", "b")).toBe(two[shard] === "a");
  expect(isBetterPlaced(0, "a", "a")).toBe(false);
});

test("lines come whole, however they are cut, and are bounded", () => {
  const reader = new LineReader();
  expect(reader.push(Buffer.from('{"a"'))).toEqual([]);
  expect(reader.push(Buffer.from(':1}\n{"b":2}\n{'))).toEqual(['{"a":1}', '{"b":2}']);
  expect(reader.push(Buffer.from("ü}\n"))).toEqual(["{ü}"]);
  expect(reader.push(Buffer.alloc(FIRST_LINE_BYTES + 1, "x"))).toBeNull();
});

test("a proof fits one secret, one side and one meeting", () => {
  const server = greeting("api-1");
  const client = introduction("secret", server, "api-2", "0".repeat(32));
  expect(isProved(client.proof, proofOf("secret", "client", server, client))).toBe(true);
  const others = [
    proofOf("other", "client", server, client),
    proofOf("secret", "server", server, client),
    proofOf("secret", "client", greeting("api-1"), client),
    proofOf("secret", "client", server, { ...client, api: "api-3" }),
    proofOf(null, "client", server, client),
  ];
  expect(others.filter((other) => isProved(client.proof, other))).toEqual([]);
});

test("what is asked for keeps its names on the way", () => {
  for (const names of ["foo", "foo,bar", "fo*", "[a-c]?"]) {
    const sent = { ...getJob("x"), wanted: { ...getJob("x").wanted, names: parseNames(names) } };
    const come = readCommandFrame(JSON.parse(JSON.stringify(plainCommand(sent))) as { verb: string });
    expect(JSON.stringify(plainCommand(come!))).toBe(JSON.stringify(plainCommand(sent)));
    expect(come?.verb === "GetJobs" ? come.wanted.names.kind : null).toBe(parseNames(names).kind);
  }
  expect(readCommandFrame({ ...getJob("x"), wanted: { names: 7 } })).toBeNull();
});

const reply = (jobs: number): Reply => ({
  status: { code: 200, text: "OK" },
  content: { kind: "taken", jobs: Array.from({ length: jobs }, () => ({ token: "1.1" })) as never, single: false },
});

test("a request that comes again is done once, and jobs that were never heard of go back", async () => {
  const back: string[] = [];
  const memory = new Memory((tenant) => void back.push(tenant));
  let done = 0;
  const ask = (n: number, jobs = 1): Promise<Attempt> =>
    memory.once({
      n,
      tenant: "acme",
      cancel: null,
      start: () => {
        done += 1;
        return Promise.resolve({ kind: "reply", reply: reply(jobs) });
      },
    });
  await ask(1);
  await ask(1);
  expect(done).toBe(1);
  await ask(2);
  memory.seen(2);
  await ask(3, 0);
  memory.close();
  await new Promise(setImmediate);
  expect(back).toEqual(["acme"]);
});

test("an answer that arrived is forgotten, though an earlier request is still open", async () => {
  const memory = new Memory(() => undefined);
  void memory.once({ n: 1, tenant: "acme", cancel: () => undefined, start: () => new Promise(() => undefined) });
  const ask = { tenant: null, cancel: null, start: () => Promise.resolve({ kind: "unknown" } as const) };
  for (const n of [2, 3, 4]) await memory.once({ n, ...ask });
  memory.seen(1, [2, 4]);
  expect(memory.size).toBe(2);
});

test("jobs that were not delivered go back before the rest is forgotten", async () => {
  const back: string[] = [];
  const memory = new Memory((tenant) => void back.push(tenant));
  let done = 0;
  const start = (jobs: number) => () => {
    done += 1;
    return Promise.resolve({ kind: "reply", reply: reply(jobs) } as const);
  };
  await memory.once({ n: 1, tenant: "acme", cancel: null, start: start(1) });
  await memory.once({ n: 2, tenant: null, cancel: null, start: start(0) });
  memory.giveJobsBack();
  await new Promise(setImmediate);
  expect(back).toEqual(["acme"]);
  await memory.once({ n: 2, tenant: null, cancel: null, start: start(0) });
  expect(done).toBe(2);
});

test("a waiter whose connection broke waits anew when it comes back", async () => {
  const memory = new Memory(() => undefined);
  const started: ((attempt: Attempt) => void)[] = [];
  const wait = (): Promise<Attempt> =>
    memory.once({
      n: 1,
      tenant: "acme",
      start: () => new Promise((resolve) => started.push(resolve)),
      cancel: () => started.at(-1)?.({ kind: "reply", reply: reply(0) }),
    });
  void wait();
  memory.dropWaiters();
  const again = wait();
  await new Promise(setImmediate);
  expect(started).toHaveLength(2);
  started[1]!({ kind: "reply", reply: reply(1) });
  expect(await again).toEqual({ kind: "reply", reply: reply(1) });
});

test("three timeouts in different spans of one term are one too many", () => {
  const suspicion = new Suspicion();
  expect([0, 1, 2_000, 2_001, 4_000].map((now) => suspicion.note(7, now))).toEqual([false, false, false, false, true]);
  expect(suspicion.note(8, 6_000)).toBe(false);
  suspicion.note(8, 8_000);
  suspicion.clear(8);
  expect(suspicion.note(8, 10_000)).toBe(false);
});

test("a fourth end within a minute makes a shard rest for one", () => {
  const endings = new Endings();
  expect([0, 1_000, 2_000, 61_500, 61_600, 61_700].map((now) => endings.note(now))).toEqual([
    false,
    false,
    false,
    false,
    false,
    true,
  ]);
  expect([endings.restMs(61_700), endings.restMs(121_700)]).toEqual([60_000, 0]);
  expect(
    ["resigned", "deposed", "the session is lost", "refused: BAD_VERSION"].map((why) => endingOf(new Error(why))),
  ).toEqual(["left", "deposed", "session", "refused"]);
});

test("what others are about to get, and what turned out to be empty, is not offered", () => {
  const board = new Board();
  const type = { tenant: "acme", name: "foo", count: 3, priority: 500, since: 0 };
  const turnsOf = (apiId: string, term: number): readonly WaitingType[] =>
    board.turns(4, { apiId, term }, { most: 9, agedBefore: -1, isWanted: () => true });
  const usage = { tenant: "acme", started: 4, running: 2, endedMs: 10, runningMs: 30, meanMs: 5 };
  const told = { peerId: "api-2", term: 1, types: [type], usage: new Map([["acme", usage]]), atMs: 100 };
  board.tell(4, told);
  expect(turnsOf("api-2", 1)).toEqual([type]);
  expect(board.usageOf(4, "acme", 150)).toEqual({ term: 1, usage: { ...usage, runningMs: 130 } });
  expect([board.usageOf(4, "other", 150), board.usageOf(5, "acme", 150)]).toEqual([null, null]);
  expect([turnsOf("api-2", 2), turnsOf("api-3", 1)]).toEqual([[], []]);
  board.promise(4, type, 2);
  expect(board.left(4, type, 0)).toBe(1);
  board.promise(4, type, -2);
  board.took(4, type, 2);
  expect(turnsOf("api-2", 1)).toEqual([{ ...type, count: 1 }]);
  board.markEmpty(4, type, 0);
  expect([board.left(4, type, 1), board.nextBelief(1), board.left(4, type, EMPTY_MS)]).toEqual([0, EMPTY_MS, 3]);
  board.markEmpty(4, type, 0);
  board.tell(4, told);
  expect(board.left(4, type, 1)).toBe(3);
  const many = ["a", "b", "c"].map((name, n) => ({ ...type, name, priority: 500 * (n % 2), since: n }));
  board.tell(4, { ...told, types: [...many, { ...type, name: "old", priority: 0, since: -9 }] });
  const first = (agedBefore: number, most: number): readonly string[] =>
    board
      .turns(4, { apiId: "api-2", term: 1 }, { most, agedBefore, isWanted: ({ name }) => name !== "c" })
      .map(({ name }) => name);
  expect([first(-99, 2), first(-5, 2)]).toEqual([
    ["b", "a"],
    ["old", "b"],
  ]);
  board.took(4, many[0]!, 1);
  expect(first(-99, 9)).toEqual(["b", "old", "a"]);
  board.forget("api-2");
  expect(turnsOf("api-2", 1)).toEqual([]);
});
