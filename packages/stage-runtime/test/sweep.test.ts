/** Repeated work of one replica at a time, and what becomes of it when a run does not end. */
import { ownerOf } from "@sluice/queue-core";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { startSweep } from "../src/duties/sweep.ts";
import { HungSweeps } from "../src/engine/hung-sweeps.ts";
import { Pulse } from "../src/engine/pulse.ts";
import type { Scope } from "../src/engine/scope.ts";
import { silentLog, type Sweep } from "../src/index.ts";
import { unseenMetrics } from "../src/observe/metrics.ts";
import { World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

describe("a sweep", () => {
  test("runs again and again, also after a throw, and on one replica at a time", async () => {
    let failures = 0;
    const sweep: Sweep = {
      kind: "sweep",
      name: "ended-jobs",
      everyMs: 20,
      run: () => (failures++ === 0 ? Promise.reject(new Error("boom")) : Promise.resolve()),
    };
    const owner = ownerOf("sweep ended-jobs", ["a", "b"]) === "a" ? "a" : "b";
    const alone = world.start("reporter", [sweep], { WORKER_ID: owner === "a" ? "b" : "a" });
    await alone.recorder.until("swept", 3);
    const newcomer = world.start("reporter", [sweep], { WORKER_ID: owner });
    await newcomer.recorder.until("swept");
    await alone.recorder.until("idle", alone.recorder.all("idle").length + 3);
    const before = alone.recorder.all("swept").length;
    await newcomer.recorder.until("swept", newcomer.recorder.all("swept").length + 5);
    expect(alone.recorder.all("swept")).toHaveLength(before);
  });

  test("that hangs is done by another process, and shows itself", async () => {
    let letGo = (): void => undefined;
    const gone = new Promise<void>((resolve) => (letGo = resolve));
    const signals: AbortSignal[] = [];
    const [hanging, healthy] = ownerOf("sweep ended-jobs", ["a", "b"]) === "a" ? ["a", "b"] : ["b", "a"];
    const sweep: Sweep = {
      kind: "sweep",
      name: "ended-jobs",
      everyMs: 20,
      deadlineMs: 100,
      run: async ({ worker, signal }) => {
        if (worker !== hanging) return;
        signals.push(signal);
        await gone;
      },
    };
    const stuck = world.start("reporter", [sweep], { WORKER_ID: hanging });
    await waitFor(() => signals.length === 1);
    const other = world.start("reporter", [sweep], { WORKER_ID: healthy });
    await other.recorder.until("swept", 2);
    expect([signals.length, signals[0]?.aborted]).toEqual([1, true]);
    const metrics = await (await fetch(`${stuck.service.opsUrl ?? ""}/metrics`)).text();
    expect(metrics).toContain('sluice_sweep_hung{stage="reporter",duty="sweep ended-jobs"} 1');
    expect(metrics).toContain('sluice_duty_runs_total{stage="reporter",duty="sweep ended-jobs",outcome="late"} 1');
    letGo();
    await stuck.recorder.until("swept");
  });

  test("that hangs makes its process call itself dead", async () => {
    const at = { nowMs: 0 };
    const clock = { nowMs: () => at.nowMs, monotonicMs: () => at.nowMs };
    const pulse = new Pulse(clock);
    const [stopping, hung] = [new AbortController(), new HungSweeps()];
    const scope = {
      actor: { stage: "reporter", worker: "a" },
      queue: { clock },
      settings: { idlePollMs: 30_000 },
      members: { sweepers: () => Promise.resolve(["a"]), onChange: () => undefined },
      gate: { closedBecause: () => Promise.resolve(null), onChange: () => undefined },
      fleetIdGuard: { check: () => Promise.resolve() },
      log: silentLog(),
      metrics: unseenMetrics(),
      probe: () => undefined,
      stopping: stopping.signal,
      aborting: stopping.signal,
      hung,
      pulse,
    } as unknown as Scope;
    let letGo = (): void => undefined;
    const gone = new Promise<void>((resolve) => (letGo = resolve));
    const sweep: Sweep = { kind: "sweep", name: "x", everyMs: 1_000, deadlineMs: 10, run: () => gone };
    const { ended } = startSweep(sweep, scope);
    await waitFor(() => hung.list().length === 1);
    at.nowMs = 200_000;
    expect(pulse.stuck(120_000)).toEqual(["sweep x"]);
    stopping.abort();
    letGo();
    await ended;
    expect([hung.list(), pulse.stuck(120_000)]).toEqual([[], []]);
  });
});
