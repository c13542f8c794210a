/** When the loss of a session is the fault of what runs here. */
import { describe, expect, test } from "@jest/globals";
import { isOurFault, Stalls } from "../src/engine/stalls.ts";

function loopOf() {
  const at = { nowMs: 0, activeMs: 0 };
  const stalls = new Stalls({ nowMs: () => at.nowMs, monotonicMs: () => at.nowMs }, () => at.activeMs);
  const pass = (ms: number, activeMs: number): void => {
    at.nowMs += ms;
    at.activeMs += activeMs;
  };
  return { stalls, pass };
}

describe("the event loop", () => {
  test("that is kept busy by one handler stands still, before and after it turns again", () => {
    const { stalls, pass } = loopOf();
    pass(7_000, 7_000);
    expect(stalls.withinMs(10_000)).toBe(7_000);
    stalls.beat();
    expect(stalls.withinMs(10_000)).toBe(7_000);
    expect(isOurFault(stalls.withinMs(10_000), 10_000)).toBe(true);
  });

  test("adds up what stood still in the time that counts, and forgets what was before", () => {
    const { stalls, pass } = loopOf();
    for (let i = 0; i < 2; i++) {
      pass(2_000, 2_000);
      stalls.beat();
    }
    expect(stalls.withinMs(10_000)).toBe(4_000);
    for (let i = 0; i < 100; i++) {
      pass(100, 90);
      stalls.beat();
    }
    expect(stalls.withinMs(10_000)).toBe(0);
  });

  test("that turns while ZooKeeper is away is not at fault, nor is a process that was stopped", () => {
    const { stalls, pass } = loopOf();
    for (let i = 0; i < 70; i++) {
      pass(100, 20);
      stalls.beat();
    }
    pass(60_000, 3);
    expect(isOurFault(stalls.withinMs(60_000), 10_000)).toBe(false);
  });
});
