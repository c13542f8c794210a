/** The autoscaler's arithmetic, by the manifests' own numbers: the downloader's, which has all of it. */
import { describe, expect, test } from "@jest/globals";
import { skipUnless } from "@sluice/local-parts";
import { STAGES } from "@sluice/queue-core";
import { decide, NEW_SCALER, type ScalerState } from "../src/autoscaler/decide.ts";
import { hastened, type ScalingRule, scalingRules } from "../src/autoscaler/rule.ts";
import { kustomize, rendered } from "./overlays.ts";

const POLL_MS = 15_000;
const objects = rendered("production");
const rules = scalingRules(objects);
const ruleOf = (stage: string): ScalingRule => rules.find((rule) => rule.stage === stage)!;

type Values = readonly (number | null)[];

/**
 * A stage that is polled: `after(n, values)` = n polls with the same answers, and how many replicas each gave. A question that is
 * not told of has the answer 0; none while Prometheus is away.
 */
function polled(stage: string, replicas: number) {
  let state: ScalerState = NEW_SCALER;
  let nowMs = 0;
  return {
    after(polls: number, ...told: Values): readonly number[] {
      const isAway = told.every((value) => value === null);
      const values = ruleOf(stage).triggers.map((_, i) => told[i] ?? (isAway || told[i] === null ? null : 0));
      return Array.from({ length: polls }, () => {
        ({ replicas, state } = decide(ruleOf(stage), state, { nowMs: (nowMs += POLL_MS), replicas, values }));
        return replicas;
      });
    },
  };
}

skipUnless(describe, kustomize)("the autoscaler", () => {
  test("reads every ScaledObject", () => {
    expect(rules.map(({ stage }) => stage).sort()).toEqual([...STAGES, "job-runner"].sort());
    expect(ruleOf("downloader")).toMatchObject({
      min: 0,
      max: 20,
      pollMs: POLL_MS,
      cooldownMs: 300_000,
      fallback: { failures: 4, replicas: 2 },
      triggers: [
        { name: "work", threshold: 4, activation: 0 },
        { name: "age", threshold: 300 },
        { name: "recent", threshold: 1, activation: 0 },
      ],
      scaleUp: { windowMs: 0 },
      scaleDown: { windowMs: 300_000, policies: [{ type: "Pods", value: 1, periodMs: 60_000 }] },
    });
  });

  test("refuses a field that it does not know", () => {
    const [object] = objects.filter(({ kind }) => kind === "ScaledObject");
    const odd = { ...object!, spec: { ...(object!["spec"] as object), idleReplicaCount: 0 } };
    expect(() => scalingRules([odd])).toThrow("idleReplicaCount");
  });

  test("wakes a stage at zero, one replica first, when anything is ready; and lets it sleep otherwise", () => {
    const downloader = polled("downloader", 0);
    expect(downloader.after(2, 0, 0)).toEqual([0, 0]);
    expect(downloader.after(1, 1, 0)).toEqual([1]);
  });

  test("gives as many as work or age asks for, whichever is more, four more or twice as many in half a minute", () => {
    expect(polled("downloader", 1).after(1, 9, 0)).toEqual([3]);
    expect(polled("downloader", 1).after(1, 1, 700)).toEqual([3]);
    expect(polled("downloader", 1).after(6, 100, 0)).toEqual([5, 5, 10, 10, 20, 20]);
  });

  test("never goes above the most, nor below the least", () => {
    expect(polled("downloader", 15).after(1, 1_000, 0)).toEqual([20]);
    expect(polled("batch-intake", 1).after(1, 0, 0, 0)).toEqual([2]);
    expect(polled("batch-intake", 2).after(40, 0, 0, 0).at(-1)).toBe(2);
    expect(polled("provisioner", 1).after(40, 0).at(-1)).toBe(1);
  });

  test("leaves alone what is a tenth off", () => {
    expect(polled("downloader", 10).after(1, 43, 0)).toEqual([10]);
    expect(polled("downloader", 10).after(1, 45, 0)).toEqual([12]);
  });

  test("takes one away in a minute, once for five minutes fewer would have done", () => {
    const downloader = polled("downloader", 5);
    downloader.after(1, 20, 0);
    expect(downloader.after(19, 8, 0)).toEqual(Array(19).fill(5));
    expect(downloader.after(9, 8, 0)).toEqual([4, 4, 4, 4, 3, 3, 3, 3, 2]);
    expect(downloader.after(8, 8, 0)).toEqual(Array(8).fill(2));
  });

  test("a short rise within the window keeps what there is", () => {
    const downloader = polled("downloader", 5);
    downloader.after(15, 8, 0);
    downloader.after(1, 20, 0);
    expect(downloader.after(19, 8, 0)).toEqual(Array(19).fill(5));
  });

  test("after five minutes without anything ready or in hand goes to zero, however many there are", () => {
    const downloader = polled("downloader", 5);
    downloader.after(1, 20, 0);
    expect(downloader.after(19, 0, 0)).toEqual(Array(19).fill(5));
    // The window ends a moment before the cooldown.
    expect(downloader.after(2, 0, 0)).toEqual([4, 0]);
  });

  test("in a trickle that no scrape sees keeps one replica, and no more", () => {
    const processor = polled("processor", 3);
    processor.after(1, 6, 0, 1);
    expect(processor.after(60, 0, 0, 1).at(-1)).toBe(1);
    // After the last of it, the cooldown.
    expect(processor.after(21, 0, 0, 0)).toEqual([...Array<number>(20).fill(1), 0]);
  });

  test("without an answer keeps what runs, and after four polls has the fallback's number, also from zero", () => {
    expect(polled("downloader", 0).after(6, null, null)).toEqual([0, 0, 0, 2, 2, 2]);
    expect(polled("downloader", 1).after(5, null, null)).toEqual([1, 1, 1, 2, 2]);
    expect(polled("downloader", 7).after(60, null, null)).toEqual(Array(60).fill(7));
  });

  test("on one missing answer takes none away, but may add", () => {
    expect(polled("downloader", 7).after(60, 1, null)).toEqual(Array(60).fill(7));
    expect(polled("downloader", 7).after(60, 0, null)).toEqual(Array(60).fill(7));
    expect(polled("downloader", 2).after(1, 16, null)).toEqual([4]);
  });

  test("forgets missing answers at the first that comes", () => {
    const downloader = polled("downloader", 0);
    downloader.after(3, null, null);
    expect(downloader.after(1, 0, 0)).toEqual([0]);
    expect(downloader.after(3, null, null)).toEqual([0, 0, 0]);
  });

  test("hastened, divides every time and no number of jobs", () => {
    expect(hastened(ruleOf("downloader"), 15)).toMatchObject({
      pollMs: 1_000,
      cooldownMs: 20_000,
      triggers: [
        { threshold: 4 },
        { threshold: 20 },
        { threshold: 1, query: expect.stringMatching(/last_settled_timestamp_seconds.* < bool 8\)/) },
      ],
      scaleUp: {
        policies: [
          { periodMs: 2_000, value: 100 },
          { periodMs: 2_000, value: 4 },
        ],
      },
      scaleDown: { windowMs: 20_000, policies: [{ periodMs: 4_000, value: 1 }] },
    });
  });
});
