/** Parsers of strangers' bytes answer or refuse, whatever comes, in a time that grows no faster than what came. */
import { afterAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { seed, sized } from "../support/campaign.ts";
import type { FuzzTarget } from "./fuzz-inputs.ts";
import { FUZZ_TARGETS } from "./fuzz-targets.ts";

const WHOLE_MS = 60_000;
const FEW_RUNS = 60;

/** By target: how many inputs it has read. */
const inputs = new Map<string, number>();

afterAll(() => {
  const counted = [...inputs].map(([name, count]) => `${name}: ${count} inputs\n`);
  process.stderr.write(`${sized({ smoke: "", whole: counted.join("") })}SLUICE_SEED=${seed}\n`);
});

describe("answers or refuses, and throws nothing", () => {
  const limits = sized<{ numRuns: number; interruptAfterTimeLimit?: number }>({
    smoke: { numRuns: FEW_RUNS },
    whole: { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: WHOLE_MS },
  });
  test.each(FUZZ_TARGETS)("$name", async ({ name, arbitrary, run }) => {
    const property = fc.asyncProperty(arbitrary, async (input) => {
      inputs.set(name, (inputs.get(name) ?? 0) + 1);
      await run(input);
    });
    await fc.assert(property, { seed, ...limits });
  });
});

/** Quadratic work takes 16 times as long for four times the bytes, linear work 4 times. */
const BYTES = 50_000;
const GROWTH = 4;
const MOST = 10;
/** Below this the clock of the processor says nothing. */
const NOISE_MICROS = 20_000;
const TRIES = 5;

async function cpuMicros(run: FuzzTarget["run"], input: Buffer): Promise<number> {
  let best = Infinity;
  for (let tries = 0; tries < TRIES; tries++) {
    const before = process.cpuUsage();
    await run(input);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, user + system);
    if (best < NOISE_MICROS) break;
  }
  return best;
}

describe("takes no more than linear time", () => {
  test.each(FUZZ_TARGETS.filter(({ grows }) => grows !== undefined))("$name", async ({ run, grows }) => {
    const small = grows?.(BYTES) ?? [];
    const large = grows?.(GROWTH * BYTES) ?? [];
    for (const [at, input] of large.entries()) {
      const much = await cpuMicros(run, input);
      if (much < NOISE_MICROS) continue;
      const little = Math.max(await cpuMicros(run, small[at] ?? Buffer.alloc(0)), NOISE_MICROS / GROWTH);
      const isLinear = much / little < MOST;
      expect({ input: at, start: input.toString("latin1", 0, 60), much, little, isLinear }).toMatchObject({
        isLinear: true,
      });
    }
  });
});
