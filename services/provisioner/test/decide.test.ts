import { describe, expect, test } from "@jest/globals";
import { jobId } from "@sluice/queue-core";
import type { AdmissionCandidate, AdmissionVerdicts, Promised } from "@sluice/stage-runtime";
import fc from "fast-check";
import { decide as decideOn } from "../src/decide.ts";

const LIMITS = { known: 0.8, unknown: 0.7 };
const GB = 1_000_000_000;

const candidate = (number: number, spaceNeeded: number, priority = 10): AdmissionCandidate => ({
  id: jobId(number),
  priority,
  spaceNeeded,
  resource: undefined,
});

const empty = { totalBytes: 100 * GB, freeBytes: 100 * GB };

const promised = (bytes: number, more: Partial<Promised> = {}): Promised => ({
  bytes,
  failedBytes: 0,
  unknownJobs: 0,
  ...more,
});

const decide = (
  candidates: readonly AdmissionCandidate[],
  reserved: number | Promised,
  volume: { readonly totalBytes: number; readonly freeBytes: number; readonly uploadedBytes?: number },
  limits = LIMITS,
): AdmissionVerdicts =>
  decideOn(
    candidates,
    typeof reserved === "number" ? promised(reserved) : reserved,
    { uploadedBytes: 0, ...volume },
    limits,
  );

const admitted = (verdicts: AdmissionVerdicts): string[] =>
  [...verdicts].filter(([, verdict]) => verdict.admit).map(([id]) => id);

const whyOf = (verdicts: AdmissionVerdicts, number: number): string => {
  const verdict = verdicts.get(jobId(number));
  return verdict === undefined || verdict.admit ? "" : verdict.why;
};

describe("a job of known size", () => {
  test("goes on when it exactly fills the allowed share", () => {
    expect(admitted(decide([candidate(1, 30 * GB)], 50 * GB, empty, LIMITS))).toEqual([jobId(1)]);
  });

  test("waits for one byte too many, and the reason names what it needs and what is left", () => {
    const verdicts = decide([candidate(1, 30 * GB + 1)], 50 * GB, empty, LIMITS);
    expect(admitted(verdicts)).toEqual([]);
    expect(whyOf(verdicts, 1)).toBe("needs 30.0 GB, 30.0 GB left below 80 % of the volume");
  });

  test("waits when what is used for whatever leaves too little of the allowed share", () => {
    const verdicts = decide([candidate(1, 30 * GB)], 0, { totalBytes: 100 * GB, freeBytes: 40 * GB });
    expect(whyOf(verdicts, 1)).toBe("needs 30.0 GB, 20.0 GB left below 80 % of the volume");
  });

  test("waits when the volume has less free than it needs, whatever share is allowed", () => {
    const full = { totalBytes: 100 * GB, freeBytes: 20 * GB };
    const verdicts = decide([candidate(1, 30 * GB)], 0, full, { known: 1, unknown: 1 });
    expect(whyOf(verdicts, 1)).toBe("needs 30.0 GB, 20.0 GB left below 100 % of the volume");
  });

  test("has the uploads beside it, also while what is promised is not on the volume yet", () => {
    const volume = { totalBytes: 100 * GB, freeBytes: 70 * GB, uploadedBytes: 30 * GB };
    expect(admitted(decide([candidate(1, 20 * GB)], 30 * GB, volume))).toEqual([jobId(1)]);
    expect(admitted(decide([candidate(1, 20 * GB + 1)], 30 * GB, volume))).toEqual([]);
  });

  test("that can never fit is told so", () => {
    const verdicts = decide([candidate(1, 90 * GB)], 0, empty, LIMITS);
    expect(whyOf(verdicts, 1)).toBe("needs 90.0 GB, more than 80 % of the volume (80.0 GB)");
  });
});

describe("a job of unknown size", () => {
  test("goes on below the stricter share", () => {
    expect(admitted(decide([candidate(1, 0)], 69 * GB, empty, LIMITS))).toEqual([jobId(1)]);
  });

  test("waits from that share on, by promise or by real use", () => {
    const byPromise = decide([candidate(1, 0)], 70 * GB, empty, LIMITS);
    const byUse = decide([candidate(1, 0)], 0, { totalBytes: 100 * GB, freeBytes: 25 * GB }, LIMITS);
    expect(whyOf(byPromise, 1)).toBe(
      "size unknown: admitted when less than 70 % of the volume is used or promised; now 70 %",
    );
    expect(whyOf(byUse, 1)).toBe(
      "size unknown: admitted when less than 70 % of the volume is used or promised; now 75 %",
    );
  });

  test("waits when the volume has no size at all", () => {
    expect(admitted(decide([candidate(1, 0)], 0, { totalBytes: 0, freeBytes: 0 }, LIMITS))).toEqual([]);
  });
});

describe("several jobs", () => {
  test("a large one that must wait does not stop the smaller ones behind it", () => {
    const verdicts = decide([candidate(1, 70 * GB, 1), candidate(2, 5 * GB, 2)], 40 * GB, empty, LIMITS);
    expect(admitted(verdicts)).toEqual([jobId(2)]);
  });

  test("the more urgent one takes the room, then the older one, whatever order they come in", () => {
    const urgent = decide([candidate(1, 60 * GB, 20), candidate(2, 60 * GB, 5)], 0, empty, LIMITS);
    const older = decide([candidate(9, 60 * GB), candidate(3, 60 * GB)], 0, empty, LIMITS);
    expect(admitted(urgent)).toEqual([jobId(2)]);
    expect(admitted(older)).toEqual([jobId(3)]);
  });
});

interface Simulation {
  readonly large: number;
  readonly failed?: number;
  readonly overdueAt?: number;
  readonly rounds?: number;
}

describe("an overdue job", () => {
  const SINCE = Date.UTC(2026, 10, 17, 9, 30);
  const overdue = (number: number, spaceNeeded: number): AdmissionCandidate => ({
    ...candidate(number, spaceNeeded, -1),
    overdueSinceMs: SINCE,
  });

  /** The volume is full of jobs that end two a round, and as many small ones come; a large one waits, overdue from a round on. */
  function simulate({ large, failed = 0, overdueAt = 100, rounds = 5_000 }: Simulation) {
    const places = Math.floor((80 * GB - failed) / (5 * GB));
    let running = Array.from({ length: places }, (_, i) => 1 + Math.floor(i / 2));
    let small = 0;
    for (let round = 0; round < rounds; round++) {
      running = running.filter((endsAt) => endsAt > round);
      const bytes = running.length * 5 * GB + failed;
      const waiting = round < overdueAt ? candidate(1, large) : overdue(1, large);
      const arrivals = Array.from({ length: 20 }, (_, i) => candidate(2 + 20 * round + i, 5 * GB));
      const survey = { totalBytes: 100 * GB, freeBytes: 100 * GB - bytes };
      const verdicts = decide([waiting, ...arrivals], promised(bytes, { failedBytes: failed }), survey);
      if (verdicts.get(jobId(1))?.admit === true) return { admittedAt: round, small };
      for (const _ of admitted(verdicts)) running.push(round + places / 2);
      small += admitted(verdicts).length;
    }
    return { admittedAt: null, small };
  }

  test("of half the allowed share waited for ever behind small ones, while it was not overdue", () => {
    expect(simulate({ large: 40 * GB, overdueAt: Infinity }).admittedAt).toBeNull();
  });

  test.each([20, 40, 41, 60, 80])("of %d GB is admitted when what was under way has ended, at the latest", (size) => {
    const { admittedAt, small } = simulate({ large: size * GB });
    expect(small).toBeGreaterThan(100);
    expect(admittedAt).toBeLessThanOrEqual(108);
  });

  test("that the volume can never hold stops nobody", () => {
    const { admittedAt, small } = simulate({ large: 81 * GB });
    expect(admittedAt).toBeNull();
    expect(small).toBeGreaterThan(9_900);
  });

  test("that waits for what failed jobs have stops nobody, and says so", () => {
    const { admittedAt, small } = simulate({ large: 60 * GB, failed: 30 * GB });
    expect(admittedAt).toBeNull();
    expect(small).toBeGreaterThan(9_900);
    const room = decide(
      [overdue(1, 60 * GB), candidate(2, 5 * GB)],
      promised(30 * GB, { failedBytes: 30 * GB }),
      empty,
    );
    expect(admitted(room)).toEqual([jobId(2)]);
    expect(whyOf(room, 1)).toBe(
      "needs 60.0 GB, 50.0 GB left below 80 % of the volume; 30.0 GB of failed jobs, uploads, others stay",
    );
  });

  test("says since when it waits, and those behind it for whom; one that can never fit has its own reason", () => {
    const waiting = [overdue(1, 40 * GB), candidate(2, 5 * GB), candidate(3, 0), candidate(4, 90 * GB)];
    const verdicts = decide(waiting, 60 * GB, empty);
    expect(whyOf(verdicts, 1)).toBe(
      "needs 40.0 GB, 20.0 GB left below 80 % of the volume; kept for it, it waits since 2026-11-17T09:30Z",
    );
    const behind = `room is kept for ${jobId(1)}, which waits for 40.0 GB since 2026-11-17T09:30Z`;
    expect([2, 3].map((number) => whyOf(verdicts, number))).toEqual([behind, behind]);
    expect(whyOf(verdicts, 4)).toContain("more than 80 % of the volume");
  });

  test("of unknown size has room kept too: those of known size may fill more of the volume, for ever", () => {
    expect(admitted(decide([candidate(1, 0), candidate(2, 5 * GB)], 72 * GB, empty))).toEqual([jobId(2)]);
    expect(admitted(decide([overdue(1, 0), candidate(2, 5 * GB)], 72 * GB, empty))).toEqual([]);
    const foreign = { totalBytes: 100 * GB, freeBytes: 28 * GB };
    expect(admitted(decide([overdue(1, 0), candidate(2, 5 * GB)], 0, foreign))).toEqual([jobId(2)]);
  });

  test("every reason fits where it is shown", () => {
    const waiting = [overdue(1, 40 * GB), candidate(2, 5 * GB)];
    for (const number of [1, 2])
      expect(Buffer.byteLength(whyOf(decide(waiting, 60 * GB, empty), number))).toBeLessThan(121);
  });
});

describe("for any candidates, reservations and volume", () => {
  const sizes = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 200 }));
  const rounds = fc.record({
    sizes: fc.array(fc.tuple(sizes, fc.integer({ min: 0, max: 99 })), { maxLength: 60 }),
    reserved: fc.integer({ min: 0, max: 1_000 }),
    total: fc.integer({ min: 0, max: 1_000 }),
    freeShare: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const run = (round: typeof rounds extends fc.Arbitrary<infer R> ? R : never) => {
    const candidates = round.sizes.map(([size, priority], index) => candidate(index, size, priority));
    const survey = { totalBytes: round.total, freeBytes: Math.floor(round.total * round.freeShare) };
    return { candidates, survey, verdicts: decide(candidates, round.reserved, survey, LIMITS) };
  };

  test("what is admitted never exceeds the allowed share nor the free bytes", () => {
    fc.assert(
      fc.property(rounds, (round) => {
        const { candidates, survey, verdicts } = run(round);
        const taken = candidates.filter(({ id }) => verdicts.get(id)?.admit).map(({ spaceNeeded }) => spaceNeeded);
        const sum = taken.reduce((a, b) => a + b, 0);
        if (sum === 0) return;
        expect(round.reserved + sum).toBeLessThanOrEqual(survey.totalBytes * LIMITS.known);
        expect(sum).toBeLessThanOrEqual(survey.freeBytes);
      }),
    );
  });

  test("every one gets a verdict, and a reason if it waits", () => {
    fc.assert(
      fc.property(rounds, (round) => {
        const { candidates, verdicts } = run(round);
        expect(verdicts.size).toBe(candidates.length);
        for (const verdict of verdicts.values()) if (!verdict.admit) expect(verdict.why).not.toBe("");
      }),
    );
  });

  test("none waits that would still fit after the round: nobody is forgotten", () => {
    fc.assert(
      fc.property(rounds, (round) => {
        const { candidates, survey, verdicts } = run(round);
        const taken = candidates.filter(({ id }) => verdicts.get(id)?.admit);
        const sum = taken.reduce((bytes, { spaceNeeded }) => bytes + spaceNeeded, 0);
        const waiting = candidates.filter(({ id, spaceNeeded }) => !verdicts.get(id)?.admit && spaceNeeded > 0);
        for (const { spaceNeeded } of waiting) {
          const fits =
            Math.max(round.reserved, survey.totalBytes - survey.freeBytes) + sum + spaceNeeded <=
              survey.totalBytes * LIMITS.known && sum + spaceNeeded <= survey.freeBytes;
          expect(fits).toBe(false);
        }
      }),
    );
  });

  test("the order in which they are listed does not matter", () => {
    fc.assert(
      fc.property(rounds, (round) => {
        const { candidates, survey, verdicts } = run(round);
        const reversed = decide([...candidates].reverse(), round.reserved, survey, LIMITS);
        for (const [id, verdict] of verdicts) expect(reversed.get(id)).toEqual(verdict);
      }),
    );
  });

  test("of two alike, the less urgent is never admitted alone", () => {
    fc.assert(
      fc.property(rounds, (round) => {
        const { candidates, verdicts } = run(round);
        for (const a of candidates)
          for (const b of candidates)
            if (a.spaceNeeded === b.spaceNeeded && a.priority < b.priority && verdicts.get(b.id)?.admit)
              expect(verdicts.get(a.id)?.admit).toBe(true);
      }),
    );
  });
});
