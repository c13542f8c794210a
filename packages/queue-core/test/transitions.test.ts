import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  BATCH_ACTIONS,
  BATCH_STATES,
  batchRow,
  isEnded,
  isFinal,
  isLive,
  JOB_ACTIONS,
  JOB_STATES,
  type JobAction,
  type JobMove,
  jobRow,
  nextBatchState,
  nextJobState,
  PIPELINE,
  predecessor,
  resumeAt,
  resumeChoices,
  STAGES,
  stateOf,
} from "../src/index.ts";

const jobState = fc.constantFrom(...JOB_STATES);
const batchState = fc.constantFrom(...BATCH_STATES);
const operatorAction = fc.constantFrom(...JOB_ACTIONS.filter((a): a is Exclude<JobAction, "resume"> => a !== "resume"));
const anyMove: fc.Arbitrary<JobMove> = fc.oneof(
  fc
    .constantFrom("done" as const, "fail" as const, "park" as const)
    .map((outcome): JobMove => ({ by: "stage", outcome })),
  fc.constant<JobMove>({ by: "runtime", outcome: "quarantine" }),
  operatorAction.map((action): JobMove => ({ by: "operator", action })),
  fc.constant<JobMove>({ by: "batch-delete" }),
);

describe("the job table", () => {
  test("leads every owned state to Completed when each stage succeeds", () => {
    fc.assert(
      fc.property(fc.constantFrom(...JOB_STATES.filter(isLive)), (start) => {
        let state: string | null = start;
        for (let hop = 0; hop < JOB_STATES.length && state !== "Completed"; hop++) {
          state = nextJobState(state as (typeof JOB_STATES)[number], { by: "stage", outcome: "done" });
        }
        expect(state).toBe("Completed");
      }),
    );
  });

  test("lets nothing leave Completed or Deleted", () => {
    fc.assert(
      fc.property(fc.constantFrom("Completed" as const, "Deleted" as const), anyMove, (from, move) => {
        expect(nextJobState(from, move)).toBeNull();
      }),
    );
  });

  test("never lets a stage or the runtime move a job that rests", () => {
    fc.assert(
      fc.property(fc.constantFrom(...JOB_STATES.filter((s) => !isLive(s))), anyMove, (from, move) => {
        if (move.by === "stage" || move.by === "runtime") expect(nextJobState(from, move)).toBeNull();
      }),
    );
  });

  test("gives each job stage exactly one state and the reporter none", () => {
    const owners = JOB_STATES.flatMap((state) => jobRow(state).owner ?? []);
    expect(new Set(owners).size).toBe(owners.length);
    expect(STAGES.filter((stage) => stateOf(stage) === null)).toEqual(["reporter"]);
  });

  test("lets an operator fail and the runtime quarantine every live state, and nothing else", () => {
    fc.assert(
      fc.property(jobState, (from) => {
        const want = isLive(from) ? "Failed" : null;
        expect(nextJobState(from, { by: "operator", action: "fail" })).toBe(want);
        expect(nextJobState(from, { by: "runtime", outcome: "quarantine" })).toBe(want);
      }),
    );
  });

  test("takes every job of a deleted batch to Deleted, unless it is over for good", () => {
    fc.assert(
      fc.property(jobState, (from) => {
        expect(nextJobState(from, { by: "batch-delete" })).toBe(isFinal(from) ? null : "Deleted");
      }),
    );
  });

  test("ends a job exactly when its batch no longer waits for it", () => {
    expect(JOB_STATES.filter(isEnded)).toEqual(["Completed", "Failed", "Deleted"]);
  });

  test("never fails a job for want of an estimate or of room", () => {
    for (const state of ["Estimating", "Provisioning"] as const) expect(jobRow(state).fail).toBeNull();
  });
});

describe("resuming a failed job", () => {
  test("goes on after the last stage that succeeded", () => {
    expect(PIPELINE.slice(0, -1).map((last) => [last, resumeAt(last)])).toEqual([
      ["Pending", "Estimating"],
      ["Estimating", "Provisioning"],
      ["Provisioning", "Downloading"],
      ["Downloading", "Processing"],
      ["Processing", "Recording"],
      ["Recording", "Notify"],
    ]);
  });

  test("records what Merritt's own service has stored", () => expect(resumeAt("Storing")).toBe("Recording"));

  test("starts over when nothing succeeded, or when a foreign writer noted Held or Failed", () => {
    for (const last of [null, "Held", "Failed", "Deleted"] as const) expect(resumeAt(last)).toBe("Pending");
  });

  test("offers the right stage and every earlier one, each with the predecessor that makes it right", () => {
    fc.assert(
      fc.property(fc.constantFrom(null, ...PIPELINE.slice(0, -1)), (last) => {
        const choices = resumeChoices(last);
        expect(choices.at(-1)).toBe(resumeAt(last));
        for (const choice of choices) expect(resumeAt(predecessor(choice))).toBe(choice);
      }),
    );
  });
});

describe("the batch table", () => {
  test("lets nothing leave Completed or Deleted", () => {
    for (const from of ["Completed", "Deleted"] as const) {
      for (const outcome of ["done", "fail", "park"] as const)
        expect(nextBatchState(from, { by: "stage", outcome })).toBeNull();
      for (const action of BATCH_ACTIONS) expect(nextBatchState(from, { by: "operator", action })).toBeNull();
    }
  });

  test("leads a batch whose jobs all succeed to Completed", () => {
    const path = ["Pending"];
    for (let next = nextBatchState("Pending", { by: "stage", outcome: "done" }); next !== null;) {
      path.push(next);
      next = nextBatchState(next, { by: "stage", outcome: "done" });
    }
    expect(path).toEqual(["Pending", "Processing", "Reporting", "Completed"]);
  });

  test("allows resuming jobs only while nobody reports on them", () => {
    expect(BATCH_STATES.filter((state) => batchRow(state).resumable)).toEqual(["Processing", "Failed"]);
  });

  test("moves every state only to states of the table", () => {
    fc.assert(
      fc.property(batchState, (from) => {
        const row = batchRow(from);
        for (const to of [row.done, row.fail, row.park, ...Object.values(row.operator)]) {
          if (to !== null) expect(BATCH_STATES).toContain(to);
        }
      }),
    );
  });
});
