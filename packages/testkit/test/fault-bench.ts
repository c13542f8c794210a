/** A small healthy history, and a way to plant one fault in it and see whether the checker names it. */
import { describe, expect, test } from "@jest/globals";
import { type BatchId, type JobId, type JobState, paths } from "@sluice/queue-core";
import { describeViolation, type InvariantName } from "@sluice/testkit";
import type { Op } from "@sluice/zookeeper";
import { ANY_VERSION, History, set } from "./history.ts";

export type Fault = readonly [invariant: InvariantName, what: string, plant: (bench: Bench) => Promise<void>];

export const overwrite = (path: string, data: string | Buffer): Op => set(path, Buffer.from(data), ANY_VERSION);

/** A batch of two jobs, both Pending. */
export class Bench {
  readonly history: History;
  readonly batch: BatchId;
  readonly id: JobId;
  private readonly second: JobId;

  private constructor(history: History, batch: BatchId, [id, second]: readonly JobId[]) {
    this.history = history;
    this.batch = batch;
    this.id = id!;
    this.second = second!;
  }

  static async start(): Promise<Bench> {
    const history = await History.start();
    const { batch, jobs } = await history.batch(2);
    return new Bench(history, batch, jobs);
  }

  entry(state: JobState): string {
    return paths.queueEntry(state, 5, this.id);
  }

  /** So that the batch may report. */
  async endBoth(to: "Completed" | "Failed"): Promise<JobId[]> {
    const ids = [this.id, this.second];
    for (const id of ids) {
      await (to === "Failed" ? this.history.step(id, "Failed") : this.history.stepTo(id, "Completed"));
    }
    return ids;
  }
}

export function describeFaults(what: string, faults: readonly Fault[]): void {
  describe(`the checker, asked ${what},`, () => {
    test.each(faults)("finds %s broken by %s", async (invariant, _fault, plant) => {
      const bench = await Bench.start();
      const healthyUntil = bench.history.lastZxid;

      await plant(bench);

      const found = bench.history.check(true);
      expect(found.filter(({ zxid }) => zxid <= healthyUntil)).toEqual([]);
      expect(found.map(describeViolation)).toContainEqual(expect.stringContaining(`: ${invariant}: `));
      await bench.history.end();
    });
  });
}
