/** The quick check of records against the schema: it lets nothing else in, and takes the usual ones. */
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { usualJob } from "../src/job-check.ts";
import { JobSchema, records } from "../src/records.ts";
import { MOVES, STATES } from "../src/states.ts";

const whole = fc.nat();
const positive = fc.integer({ min: 1 });
const event = fc.tuple(fc.integer(), fc.constantFrom(...MOVES, "create"));
const lease = fc.record({
  token: fc.constantFrom("1.1", "17.2048"),
  worker: fc.string(),
  kind: fc.constantFrom("worker", "connection", "timed"),
  ttl: positive,
});

const NEEDED = ["v", "name", "tenant", "state", "priority", "nextRun", "created", "data", "ev"] as const;
const good = fc.record(
  {
    v: fc.constant(1),
    name: fc.string({ minLength: 1, maxLength: 60, unit: "grapheme-ascii" }),
    tenant: fc.constantFrom("acme", "default", "a-1"),
    state: fc.constantFrom(...STATES),
    priority: fc.constantFrom(0, 500, 1000),
    nextRun: fc.integer(),
    lastRun: fc.integer(),
    created: fc.integer(),
    repeat: fc.string(),
    unique: fc.constant(true),
    retryAfter: fc.string(),
    retryAfterCount: whole,
    reoffers: whole,
    parent: positive,
    gate: positive,
    phase: whole,
    cleared: whole,
    endedIn: whole,
    leaving: fc.constant(true),
    grp: fc.string(),
    mock: fc.constant(true),
    lease,
    maxRunTime: positive,
    step: fc.string(),
    onFinish: fc.string(),
    data: fc.json(),
    ev: fc.array(event, { maxLength: 12 }),
  },
  { requiredKeys: [...NEEDED] },
);

/** Values that are wrong somewhere, and right elsewhere. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(0, -0, -1, 1, 1.5, 1001, 2 ** 53, 1e300, "", "x", "é".repeat(128), "x".repeat(256), "1.1"),
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    [],
    {},
    [[1, "create"]],
    [[1, "create", 5]],
    [[1.5, "take"]],
    [[1]],
    ["take"],
  ),
  fc.constant<unknown>(Array.from({ length: 13 }, () => [1, "take"])),
  fc.constantFrom<unknown>(
    { token: "1.1", worker: "", kind: "timed", ttl: 1 },
    { token: "1.1", worker: "", kind: "timed" },
    { token: "1", worker: "", kind: "timed", ttl: 1 },
    { token: "1.1\n", worker: "", kind: "timed", ttl: 1 },
    { token: "1.1", worker: "", kind: "other", ttl: 1 },
    { token: "1.1", worker: "", kind: "timed", ttl: 0 },
    { token: "1.1", worker: "", kind: "timed", ttl: 1, more: 1 },
    { sha256: "0".repeat(64), bytes: 1 },
  ),
  fc.constantFrom<unknown>(...STATES, "worker", "create", "Acme", "acme\n"),
  fc.jsonValue(),
);
const FIELDS = [...Object.keys(JobSchema.shape), "more", "__proto__", "constructor"];

const asRead = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
/** As JSON has it: a key may even be __proto__. */
const withField = (record: object, field: string, value: unknown): unknown =>
  JSON.parse(
    `{${[...Object.entries(record).filter(([key]) => key !== field), [field, value]]
      .map(([key, each]) => `${JSON.stringify(key)}:${JSON.stringify(each)}`)
      .join(",")}}`,
  );

describe("the quick check of a job's record", () => {
  it("takes every usual record, as the schema does", () => {
    fc.assert(
      fc.property(good, (record) => {
        const raw = asRead(record);
        expect(usualJob(raw)).toEqual(JobSchema.parse(raw));
      }),
    );
  });

  it("takes nothing that the schema refuses, and makes the same of what it takes", () => {
    fc.assert(
      fc.property(good, fc.constantFrom(...FIELDS), odd, (record, field, value) => {
        const raw = withField(record, field, value);
        const quick = usualJob(raw);
        const slow = JobSchema.safeParse(raw);
        if (quick !== null) expect(quick).toEqual(slow.data);
        expect(records.job.decode(Buffer.from(JSON.stringify(raw))).ok).toBe(slow.success);
      }),
      { numRuns: 800 },
    );
  });

  it("takes nothing that lacks a field", () => {
    fc.assert(
      fc.property(good, fc.constantFrom(...NEEDED), (record, field) => {
        const raw = asRead(Object.fromEntries(Object.entries(record).filter(([key]) => key !== field)));
        expect(usualJob(raw)).toBeNull();
      }),
    );
  });

  it("takes nothing that is no object", () => {
    for (const raw of [undefined, null, 1, "x", [], true]) expect(usualJob(raw)).toBeNull();
  });
});
