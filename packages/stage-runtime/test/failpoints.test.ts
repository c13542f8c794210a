import { describe, expect, test } from "@jest/globals";
import { parseFailpoints } from "../src/engine/failpoint-rules.ts";
import { makeFailpoints } from "../src/index.ts";

function ports(chances: readonly number[] = []) {
  const did: string[] = [];
  let next = 0;
  return {
    did,
    ports: {
      random: () => chances[next++] ?? 0,
      signalSelf: (signal: string) => void did.push(signal),
      sleep: (ms: number) => {
        did.push(`slept ${ms}`);
        return Promise.resolve();
      },
    },
  };
}

describe("failpoints", () => {
  test("say what to do where, how probably and how often", () => {
    expect(parseFailpoints("estimator.afterClaim=kill; recorder.beforeCommit=sleep(200)@0.5#3;")).toEqual({
      ok: true,
      rules: [
        { name: "estimator.afterClaim", action: { kind: "kill" }, probability: 1, times: Infinity },
        { name: "recorder.beforeCommit", action: { kind: "sleep", ms: 200 }, probability: 0.5, times: 3 },
      ],
    });
  });

  test.each(["x", "a.b=explode", "a.b=sleep", "a.b=kill@2", "a.b=kill#x", "a.b=kill@0.5@0.5"])("%s is none", (raw) => {
    expect(parseFailpoints(raw).ok).toBe(false);
  });

  test("act at their step of their service, and nowhere else", async () => {
    const { did, ports: outside } = ports();
    const failpoint = makeFailpoints(
      "recorder",
      "recorder.a=kill;recorder.b=stop;recorder.c=sleep(7);x.d=kill",
      outside,
    );
    for (const step of ["a", "b", "c", "d", "e"]) await failpoint(step);
    expect(did).toEqual(["SIGKILL", "SIGSTOP", "slept 7"]);
  });

  test("throw where asked to", async () => {
    await expect(makeFailpoints("x", "x.y=throw")("y")).rejects.toThrow("failpoint x.y");
  });

  test("act as often and as probably as asked to", async () => {
    const { did, ports: outside } = ports([0.4, 0.6, 0.1, 0.1]);
    const failpoint = makeFailpoints("x", "x.y=sleep(1)@0.5#2", outside);
    for (let i = 0; i < 4; i++) await failpoint("y");
    expect(did).toEqual(["slept 1", "slept 1"]);
  });

  test("cost nothing when none is set for this service", () => {
    const failpoint = makeFailpoints("x", "other.y=kill");
    expect(failpoint("a")).toBe(failpoint("b"));
  });
});
