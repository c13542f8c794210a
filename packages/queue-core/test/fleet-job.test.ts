import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { EVENT_KINDS, FIRST_EPOCH, type FleetJob, JOB_STATES, records } from "../src/index.ts";
import {
  claimed,
  explained,
  hasOp,
  keptClaim,
  moved,
  type NewClaim,
  newFleetJob,
  type NewEvent,
  readyAtMs,
  waiting,
} from "../src/fleet-job.ts";

const event: fc.Arbitrary<NewEvent> = fc.record({
  op: fc.base64String({ minLength: 12, maxLength: 12 }),
  atMs: fc.nat(),
  kind: fc.constantFrom(...EVENT_KINDS),
  state: fc.constantFrom(...JOB_STATES),
  by: fc.string({ maxLength: 200, unit: "binary" }),
  detail: fc.string({ maxLength: 300, unit: "binary" }),
});
const claim = (patch: Partial<NewClaim> = {}): NewClaim => ({
  op: "claim",
  atMs: 0,
  state: "Pending",
  worker: "w",
  token: 1,
  ...patch,
});
const start = (): FleetJob => newFleetJob({ op: "op-0", atMs: 0, kind: "create", state: "Pending", by: "intake" });

describe("the short history of a job", () => {
  test("stays within 1 KB, and always holds the op of the last write", () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 40 }),
        fc.string({ maxLength: 500, unit: "binary" }),
        (events, why) => {
          let job = start();
          for (const [i, e] of events.entries()) {
            job = claimed(
              job,
              claim({ worker: "worker-with-a-rather-long-name-on-some-host", atMs: e.atMs, token: 7 }),
            );
            job =
              i % 2 === 0
                ? moved(job, e, { epoch: 1_800_000_000, token: 7 })
                : waiting(job, { delayMs: 1000, why, countsAttempt: true }, e);
            if (i % 3 === 0) job = explained(job, why);
            expect(hasOp(job, e.op)).toBe(true);
            expect(job.events.length).toBeLessThanOrEqual(12);
            expect(Buffer.byteLength(records.fleetJob.encode(job))).toBeLessThanOrEqual(1024);
          }
        },
      ),
    );
  });

  test("keeps the newest words whole, and cuts older ones short before it forgets anything", () => {
    const said = "the receiver answers 503: ".repeat(11);
    let job = start();
    for (const op of ["a", "b", "c", "d"]) {
      job = moved(job, { op, atMs: 0, kind: "fail", state: "Notify", by: "w", detail: said });
    }
    const words = job.events.map(([, , , , , detail = ""]) => detail.length);
    expect(words).toEqual([0, 48, 48, said.length, said.length]);
  });

  test("counts claims, and takes a snooze's claim back", () => {
    const e: NewEvent = { op: "o", atMs: 0, kind: "snooze", state: "Downloading", by: "w" };
    let job = claimed(claimed(start(), claim()), claim({ token: 3 }));
    expect(job.attempts).toBe(2);
    job = waiting(job, { delayMs: 5, why: "full", countsAttempt: false }, e);
    expect(job).toMatchObject({ attempts: 1, not_before: 5, why: "full" });
    expect(waiting(job, { delayMs: 0, why: "", countsAttempt: true }, e)).not.toHaveProperty("not_before");
    expect(moved(job, e)).toMatchObject({ attempts: 0 });
    expect(moved(job, e)).not.toHaveProperty("why");
  });

  test("tells who was lost with the job in hand, when another one takes it over", () => {
    const first = claimed(start(), claim({ worker: "w-1" }));
    expect(first.events).toHaveLength(1);
    const second = claimed(first, claim({ op: "two", atMs: 9_000, state: "Downloading", worker: "w-2", token: 3 }));
    expect(second.events.at(-1)).toEqual(["two", 9, "takeover", "Downloading", "w-2", "its worker w-1 was lost"]);
  });

  test("remembers the files that count until others do", () => {
    const e: NewEvent = { op: "o", atMs: 0, kind: "done", state: "Downloading", by: "w" };
    expect(keptClaim(start())).toBeNull();
    const job = moved(start(), e, { epoch: 20, token: 3 });
    expect(keptClaim(moved(claimed(job, claim({ token: 5 })), e))).toEqual({ epoch: 20, token: 3 });
    expect(keptClaim(moved(job, e, { epoch: 30, token: 1 }))).toEqual({ epoch: 30, token: 1 });
  });

  test("writes the files of the first epoch as versions without epochs do, and reads theirs", () => {
    const e: NewEvent = { op: "o", atMs: 0, kind: "done", state: "Downloading", by: "w" };
    const first = moved(moved(start(), e, { epoch: 20, token: 3 }), e, { epoch: FIRST_EPOCH, token: 9 });
    expect(first).toMatchObject({ files: 9 });
    expect(first).not.toHaveProperty("files_epoch");
    expect(keptClaim({ ...start(), files: 9 })).toEqual({ epoch: FIRST_EPOCH, token: 9 });
  });

  test("is ready when its delay has passed by the server's clock", () => {
    const job = waiting(
      start(),
      { delayMs: 500, why: "", countsAttempt: true },
      { op: "o", atMs: 0, kind: "retry", state: "Pending", by: "w" },
    );
    expect(readyAtMs(job, 10_000)).toBe(10_500);
    expect(explained(job, "why not").why).toBe("why not");
  });
});
