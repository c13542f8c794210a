/** Each invariant of the checker, broken once. */
import { describe, expect, test } from "@jest/globals";
import { checkQueue } from "../src/check/check.ts";
import type { LoggedOp, LoggedTransaction } from "../src/check/model.ts";
import { paths } from "../src/paths.ts";
import { records, type StoredJob } from "../src/records.ts";

const EMPTY = Buffer.alloc(0);
const NOW = 1_000_000;

const create = (path: string, data: Buffer = EMPTY): LoggedOp => ({ op: "create", path, data });
const job = (over: Partial<StoredJob> = {}): StoredJob => ({
  v: 1,
  name: "a",
  tenant: "default",
  state: "QUEUED",
  priority: 500,
  nextRun: NOW,
  created: NOW,
  data: "{}",
  ev: [],
  ...over,
});
const lease = (token: string): StoredJob["lease"] => ({ token, worker: "", kind: "worker", ttl: 1 });
const put = (id: number, record: StoredJob): LoggedOp => create(paths.job(id), records.job.encode(record));
const set = (id: number, record: StoredJob): LoggedOp => ({
  op: "set",
  path: paths.job(id),
  data: records.job.encode(record),
  version: 1,
});
const drop = (path: string): LoggedOp => ({ op: "delete", path });
const ids = (next: number, term: number): LoggedOp => ({
  op: "set",
  path: paths.ids(0),
  data: records.ids.encode({ next, term }),
  version: 1,
});

/** A shard in its first term, with its first block taken; then one transaction for each list, fenced as it should be. */
function history(...steps: readonly (readonly LoggedOp[])[]): readonly LoggedTransaction[] {
  const frame = [create(paths.shard(0)), create(paths.ids(0), records.ids.encode({ next: 0, term: 0 }))];
  const takeover = [ids(0, 1), create(paths.term(0, 1)), create(paths.counter(0, 1))];
  const block = [ids(16, 1), create(paths.block(0))];
  const fenced = [block, ...steps].map((ops, n): readonly LoggedOp[] => [
    { op: "check", path: paths.term(0, 1) },
    { op: "set", path: paths.counter(0, 1), data: EMPTY, version: n + 1 },
    ...ops,
  ]);
  return transactions(frame, takeover, ...fenced);
}
const transactions = (...lists: readonly (readonly LoggedOp[])[]): readonly LoggedTransaction[] =>
  lists.map((ops, n) => ({ zxid: BigInt(n), timeMs: NOW, kind: "write", ops }));
const found = (list: readonly LoggedTransaction[]): readonly string[] =>
  checkQueue(list).map(({ invariant }) => invariant);

const running = job({ state: "RUNNING", lease: lease("1.1") });
const parent = job({ state: "PAUSED", phase: 1 });
const done = create(paths.doneEntry(0, "2026010100", 1, "1.1"));

const again = create(paths.doneEntry(0, "2026010101", 1, "1.1"));
const guest = (last: number, blocks: number[] = [16]): LoggedOp => ({
  op: "set",
  path: paths.guest(0, "api"),
  data: records.guest.encode({ file: "a", offset: last, last, blocks }),
  version: 1,
});
const restored = create(
  paths.restored(0),
  records.restored.encode({ epoch: 2, from: { epoch: 0, zxid: "7" }, floor: 16 }),
);
const forgotten = [create(paths.guest(0, "api"), records.guest.encode({ file: "a", offset: 3, last: 3, blocks: [0] }))];
const reserve = [
  ids(32, 1),
  create(paths.guest(0, "api"), records.guest.encode({ file: "", offset: 0, last: 0, blocks: [16] })),
];

describe("the checker", () => {
  test("finds nothing in a life as it should be", () => {
    const family = [put(1, running), put(2, job({ parent: 1, state: "PAUSED", gate: 1 }))];
    const steps = [family, [set(1, parent)], [set(2, { ...running, parent: 1, gate: 1, lease: lease("1.2") })]];
    expect(found(history(...steps))).toEqual([]);
    expect(found(history([put(1, job())], [set(1, running)], [done, drop(paths.job(1))]))).toEqual([]);
    const ingest = [guest(16_003), create(paths.block(16)), put(16_001, job()), put(16_003, job())];
    expect(found(history(reserve, ingest, [set(16_001, running)]))).toEqual([]);
    expect(found(history([restored], [...forgotten, put(3, job())]))).toEqual([]);
    expect(
      found(
        history([put(1, job({ grp: "g" })), create(paths.group(0, "g"))], [set(1, running), drop(paths.group(0, "g"))]),
      ),
    ).toEqual([]);
  });

  test.each<[string, readonly (readonly LoggedOp[])[]]>([
    ["Q-01", [[create(paths.term(0, 2))]]],
    ["Q-03", [[ids(0, 1)]]],
    ["Q-03", [[put(1, job())], [drop(paths.job(1))], [put(1, job())]]],
    ["Q-03", [[put(16_001, job())]]],
    ["Q-04", [[create(`${paths.jobs(0)}/0/5000`, records.job.encode(job()))]]],
    ["Q-04", [[put(1, job({ tenant: "other" }))]]],
    ["Q-05", [[create(paths.job(1), Buffer.from("{}"))]]],
    ["Q-05", [[put(1, job({ data: `{"x":"${"x".repeat(5000)}"}` }))]]],
    ["Q-05", [[put(1, job({ dataNode: true }))]]],
    ["Q-06", [[put(1, job({ state: "RUNNING" }))]]],
    ["Q-06", [[put(1, job({ lease: lease("1.1") }))]]],
    ["Q-07", [[put(1, job()), put(2, job())], [set(1, running)], [set(2, running)]]],
    ["Q-07", [[put(1, job())], [set(1, running)], [set(1, job())], [set(1, running)]]],
    ["Q-07", [[put(1, job())], [set(1, { ...running, lease: lease("2.1") })]]],
    ["Q-08", [[put(1, job({ nextRun: NOW + 2000 }))], [set(1, running)]]],
    ["Q-09", [[put(1, job({ state: "FAILED" }))], [set(1, running)]]],
    ["Q-10", [[put(1, job())], [set(1, running)], [drop(paths.job(1))]]],
    ["Q-11", [[put(1, running)], [set(1, parent)]]],
    ["Q-11", [[put(1, running), put(2, job({ parent: 1 }))], [set(1, job({ state: "PAUSED" }))]]],
    ["Q-12", [[put(2, job({ parent: 1 }))]]],
    ["Q-12", [[put(1, job()), put(2, job({ parent: 1 })), put(3, job({ parent: 2 }))]]],
    ["Q-12", [[put(1, job()), put(2, job({ parent: 1, mock: true }))]]],
    ["Q-12", [[put(1, job()), put(2, job({ parent: 1 }))], [drop(paths.job(1))]]],
    ["Q-13", [[put(1, running), put(2, job({ parent: 1, state: "PAUSED", gate: 2 }))]]],
    ["Q-13", [[put(1, running), put(2, { ...running, parent: 1, gate: 1, lease: lease("1.2") })]]],
    ["Q-14", [[put(1, job()), put(2, job({ unique: true }))]]],
    ["Q-15", [[put(1, job({ grp: "g" }))], [set(1, running)]]],
    ["Q-16", [[put(1, job())], [done]]],
    ["Q-16", [[put(1, job())], [set(1, running)], [done]]],
    ["Q-16", [[put(1, job())], [set(1, running)], [done, set(1, job())], [again]]],
    ["Q-17", [[put(1, job())], [set(1, job())]]],
    ["Q-17", [[]]],
    ["Q-19", [reserve, [put(16_001, job())]]],
    ["Q-19", [reserve, [guest(16_002), put(16_001, job())]]],
    ["Q-19", [reserve, [guest(16_001), put(16_001, job())], [guest(0)]]],
    ["Q-19", [reserve, [guest(16_005), put(16_005, job())], [guest(16_006), put(16_004, job()), put(16_006, job())]]],
    ["Q-19", [reserve, [guest(16_001, []), put(16_001, job())]]],
    ["Q-19", [[create(paths.guest(0, "api"), records.guest.encode({ file: "", offset: 0, last: 0, blocks: [0] }))]]],
    ["Q-19", [reserve, [drop(paths.guest(0, "api"))]]],
    ["Q-19", [[...forgotten, put(3, job())]]],
    ["Q-18", [[put(1, job())], [set(1, job({ reoffers: 2 }))]]],
  ])("tells %s (case %#)", (invariant, steps) => {
    expect(found(history(...steps))).toContain(invariant);
  });

  test("tells Q-02 of a write without the fence, and of a counter that jumps", () => {
    const start = history();
    const unfenced = transactions(...start.map(({ ops }) => ops), [put(1, job())]);
    expect(found(unfenced)).toEqual(["Q-02"]);
    const jump: readonly LoggedOp[] = [
      { op: "check", path: paths.term(0, 1) },
      { op: "set", path: paths.counter(0, 1), data: EMPTY, version: 9 },
      put(1, job()),
    ];
    expect(found(transactions(...start.map(({ ops }) => ops), jump))).toEqual(["Q-02"]);
  });

  test("forgets what was before a restore, judges nothing until it is whole, and everything from then on", () => {
    const ran = history([put(1, job())], [set(1, running)], [done, drop(paths.job(1))]);
    const marker = "/fleet/restoring";
    const restored = [
      create(paths.ids(0), records.ids.encode({ next: 16, term: 1 })),
      create(paths.block(0)),
      put(1, running),
    ];
    const takeover = [ids(16, 2), create(paths.term(0, 2)), create(paths.counter(0, 2))];
    const ended: readonly LoggedOp[] = [
      { op: "check", path: paths.term(0, 2) },
      { op: "set", path: paths.counter(0, 2), data: EMPTY, version: 1 },
      done,
      drop(paths.job(1)),
    ];
    const lists = [
      ...ran.map(({ ops }) => ops),
      [create(marker)],
      [drop(paths.block(0)), drop(paths.ids(0))],
      restored,
      [drop(marker)],
      takeover,
      ended,
    ];
    expect(found(transactions(...lists))).toEqual([]);
    expect(found(transactions(...lists, [put(2, job())]))).toContain("Q-02");
  });
});
