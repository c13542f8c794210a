/** When a node with our name is a rival's, and when it is only not gone yet. */
import { describe, expect, test } from "@jest/globals";
import { type Holder, judgeHolder, type Self, waitsAtMostMs } from "../src/service/name-holder.ts";

const self: Self = { session: 2n, instance: "me", sessionTimeoutMs: 10_000 };
const holder = (patch: Partial<Holder> = {}): Holder => ({
  session: 1n,
  version: 1,
  instance: "another",
  sessionTimeoutMs: 10_000,
  where: "process 1 on a-host",
  ...patch,
});

describe("a node with our name", () => {
  test("of our session is our own, after a lost answer", () => {
    expect(judgeHolder(holder({ session: 2n }), self, 0)).toBe("registered");
  });

  test("of an earlier session of this process is never a rival's, however long it stays", () => {
    expect(judgeHolder(holder({ instance: "me" }), self, 1e9)).toBe("own-earlier");
  });

  test("is a rival's when it outlives every session that a dead process can have left", () => {
    expect(judgeHolder(holder(), self, 20_000)).toBe("wait");
    expect(judgeHolder(holder(), self, 20_001)).toBe("rival");
  });

  test("is waited for as long as the predecessor's session can last, if that is longer than ours", () => {
    const patient = holder({ sessionTimeoutMs: 40_000 });
    expect([waitsAtMostMs(patient, self), judgeHolder(patient, self, 60_000)]).toEqual([80_000, "wait"]);
  });

  test("that does not say how long its session lasts is given the most that ZooKeeper grants", () => {
    expect(waitsAtMostMs(holder({ sessionTimeoutMs: null }), self)).toBe(80_000);
  });
});
