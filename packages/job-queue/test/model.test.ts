import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { blockOf, BLOCK_IDS, blockOfShard, firstIdOf, lastIdOf, nextBlock, parseJobId, shardOf } from "../src/ids.ts";
import { meaningOf, paths } from "../src/paths.ts";
import { records, type StoredJob } from "../src/records.ts";
import { isAllowed, isReachable, MOVES, STATES, STATE_TABLE } from "../src/states.ts";
import { isTenant, shardOfTenant, SHARDS } from "../src/tenants.ts";

describe("the table of states", () => {
  test("has seven states, spelled as the document does", () => {
    expect(Object.keys(STATE_TABLE)).toEqual([...STATES]);
    expect(STATES).toContain("CANCELLED");
  });

  test("leads nowhere but to its own states, and from every state somewhere", () => {
    for (const from of STATES) expect(STATES.some((to) => to !== from && isReachable(from, to))).toBe(true);
    for (const row of Object.values(STATE_TABLE)) {
      for (const to of Object.values(row.moves).flat()) expect(STATES).toContain(to);
    }
  });

  test("lets nobody take what is finished, failed or cancelled", () => {
    for (const from of ["FINISHED", "FAILED", "CANCELLED"] as const) {
      expect(STATES.filter((to) => isAllowed(from, "take", to))).toEqual([]);
    }
  });

  test("lets a running job go only by finish, repeat, pause, retry, fail, requeue, lapse or poison", () => {
    const ways = MOVES.filter((move) => STATES.some((to) => to !== "RUNNING" && isAllowed("RUNNING", move, to)));
    expect(ways.sort()).toEqual(["fail", "finish", "lapse", "pause", "poison", "repeat", "requeue", "retry"]);
  });
});

describe("an id", () => {
  test("of the first job of the default tenant is 1", () => {
    expect(firstIdOf(blockOfShard(shardOfTenant("default"), 0))).toBe(1);
  });

  test("tells its shard and its block, over all of a shard's blocks", () => {
    fc.assert(
      fc.property(fc.nat(SHARDS - 1), fc.nat(10 ** 9), fc.nat(BLOCK_IDS - 1), (shard, n, offset) => {
        const block = blockOfShard(shard, n);
        const id = firstIdOf(block) + offset;
        expect([shardOf(id), blockOf(id)]).toEqual([shard, block]);
        expect(lastIdOf(block) - firstIdOf(block)).toBe(BLOCK_IDS - 1);
        expect(shardOf(firstIdOf(nextBlock(block)))).toBe(shard);
        expect(parseJobId(String(id))).toBe(id);
      }),
    );
  });

  test.each(["", "0", "01", "+1", "-1", "1x", "1.0", " 1", "9007199254740993"])("is not %j", (raw) => {
    expect(parseJobId(raw)).toBeNull();
  });
});

describe("a tenant", () => {
  test("has one shard; the default and the system tenant have theirs alone", () => {
    expect([shardOfTenant("default"), shardOfTenant("system")]).toEqual([0, 15]);
    const shards = new Set(Array.from({ length: 2000 }, (_, n) => shardOfTenant(`tenant-${n}`)));
    expect([...shards].sort((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, n) => n + 1));
    expect(shardOfTenant("large", { large: 3 })).toBe(3);
    expect(shardOfTenant("constructor")).toBeGreaterThan(0);
  });

  test("is named in lower case, without anything that a path or a job type could mistake", () => {
    expect(["a", "a-1", "x".repeat(64)].every(isTenant)).toBe(true);
    expect(["", "A", "a/b", "a.b", "a_b", "x".repeat(65), "ä"].some(isTenant)).toBe(false);
  });
});

describe("a path", () => {
  test("is understood as what it was made for", () => {
    expect(meaningOf(paths.layout)).toEqual({ kind: "layout" });
    expect(meaningOf(paths.term(3, 17))).toEqual({ kind: "term", shard: 3, term: 17 });
    expect(meaningOf(paths.counter(3, 17))).toEqual({ kind: "counter", shard: 3, term: 17 });
    expect(meaningOf(paths.ids(3))).toEqual({ kind: "ids", shard: 3 });
    expect(meaningOf(paths.job(3001))).toEqual({ kind: "job", shard: 3, block: 3, id: 3001 });
    expect(meaningOf(paths.data(16_001))).toEqual({ kind: "data", shard: 0, block: 16, id: 16_001 });
    expect(meaningOf(paths.block(19))).toEqual({ kind: "block", shard: 3, block: 19 });
    expect(meaningOf(paths.group(3, "2.1"))).toEqual({ kind: "group", shard: 3, group: "2.1" });
    expect(meaningOf(paths.doneEntry(0, "2026010203", 7, "2.9"))).toEqual({
      kind: "done-entry",
      shard: 0,
      id: 7,
      token: "2.9",
    });
    expect(meaningOf(paths.doneResult(0, "2026010203", 7, "2.9")).kind).toBe("done-result");
    expect(meaningOf(paths.shard(5))).toEqual({ kind: "frame" });
  });

  test.each([
    "/fleet/queue/x",
    "/fleet/queue/s/16",
    "/fleet/queue/s/00/j/0/1/e",
    "/fleet/queue/terms/1.1",
    "/fleet/queue/s/00/q",
  ])("%s means nothing", (path) => {
    expect(meaningOf(path)).toEqual({ kind: "unknown" });
  });
});

describe("a record", () => {
  const job: StoredJob = {
    v: 1,
    name: "send/mail?",
    tenant: "default",
    state: "RUNNING",
    priority: 500,
    nextRun: 1,
    created: 1,
    lease: { token: "1.2", worker: "w", kind: "worker", ttl: 10_000 },
    data: '{ "a" : 1 }',
    ev: [[1, "create"]],
  };

  test("comes back as it was written", () => {
    expect(records.job.decode(records.job.encode(job))).toEqual({ ok: true, value: job });
  });

  test.each([
    ["a state that is none", { ...job, state: "CANCELED" }],
    ["an unknown key", { ...job, hue: 1 }],
    ["a name that is too long", { ...job, name: "ä".repeat(128) }],
    ["no name", { ...job, name: "" }],
    ["too many events", { ...job, ev: Array.from({ length: 13 }, () => [1, "take"]) }],
  ])("with %s is refused, and says which field is to blame", (_what, broken) => {
    expect(records.job.decode(Buffer.from(JSON.stringify(broken)))).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^job\./),
    });
  });

  test("that is no JSON is a fact, not an exception", () => {
    expect(records.ids.decode(Buffer.from("{"))).toMatchObject({ ok: false });
  });
});
