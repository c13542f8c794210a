import { describe, expect, test } from "@jest/globals";
import { jobId } from "@sluice/queue-core";
import type { AdmissionCandidate, AdmissionVerdicts } from "@sluice/stage-runtime";
import fc from "fast-check";
import { decide } from "../src/decide.ts";

const LIMITS = { known: 0.8, unknown: 0.7 };
const GB = 1_000_000_000;

const candidate = (number: number, spaceNeeded: number, priority = 10): AdmissionCandidate => ({
  id: jobId(number),
  priority,
  spaceNeeded,
  resource: undefined,
});

const empty = { totalBytes: 100 * GB, freeBytes: 100 * GB };

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

  test("waits when the volume has less free than it needs, whatever the reservations say", () => {
    const verdicts = decide([candidate(1, 30 * GB)], 0, { totalBytes: 100 * GB, freeBytes: 20 * GB }, LIMITS);
    expect(whyOf(verdicts, 1)).toBe("needs 30.0 GB, 20.0 GB free on the volume");
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
    expect(whyOf(byPromise, 1)).toBe("size unknown: waits until the volume is below 70 %, it is at 70 %");
    expect(whyOf(byUse, 1)).toBe("size unknown: waits until the volume is below 70 %, it is at 75 %");
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
            round.reserved + sum + spaceNeeded <= survey.totalBytes * LIMITS.known &&
            sum + spaceNeeded <= survey.freeBytes;
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
