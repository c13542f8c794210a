/** The wave with and without the autoscaler, in turns; figures as JSON lines, curves as CSV and SVG. */
import { STAGES } from "@sluice/queue-core";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { print } from "../print.ts";
import { readInstallation } from "./installation.ts";
import { plot } from "./plot.ts";
import { type Mode, runWave, type RunResult } from "./run.ts";
import { changesOf, csvOf, meanLoad, mostReplicas, replicaSeconds } from "./timeline.ts";
import { isClean } from "./verdict.ts";
import { jobsOf, WAVE } from "./wave.ts";

/** A poll of 15 s becomes one second. */
const HASTE_FACTOR = 15;
const MOST_REPLICAS = 8;

/** False: a job was lost, failed or done twice, or the autoscaled wave was not the faster one. */
export async function measureScaling(rounds: number, folder: string): Promise<boolean> {
  const installation = readInstallation({ hasteFactor: HASTE_FACTOR, mostReplicas: MOST_REPLICAS });
  let good = true;
  for (let round = 1; round <= rounds; round++) {
    const run = async (mode: Mode): Promise<RunResult> => {
      const result = await runWave({ mode, installation, hasteFactor: HASTE_FACTOR, wave: WAVE });
      report(round, result);
      return result;
    };
    const [fixed, autoscaled] = [await run("fixed"), await run("autoscaled")];
    good &&= [fixed, autoscaled].every(({ verdict }) => isClean(verdict));
    good &&= drainSeconds(autoscaled) < drainSeconds(fixed);
    await keep(join(folder, `scaling-${round}`), fixed, autoscaled);
  }
  return good;
}

/** From the first submission to the last report. */
const drainSeconds = ({ drained }: RunResult): number =>
  Math.max(...drained.map(({ atMs, tookMs }) => atMs + tookMs)) / 1_000;

const rounded = (value: number): number => Math.round(value * 10) / 10;

function report(round: number, result: RunResult): void {
  const { mode, moments, drained, verdict } = result;
  const tookSeconds = (name: string): number =>
    rounded((drained.find((each) => each.name === name)?.tookMs ?? Number.NaN) / 1_000);
  const trickle = drained.filter(({ name }) => name.startsWith("trickle")).map(({ tookMs }) => rounded(tookMs / 1_000));
  print("scaling", {
    round,
    mode,
    firstBurstSeconds: tookSeconds("first burst"),
    trickleSeconds: trickle,
    secondBurstSeconds: tookSeconds("second burst"),
    waveSeconds: rounded(drainSeconds(result)),
    afterLastDepositSeconds: rounded(drainSeconds(result) - Math.max(...WAVE.map(({ atMs }) => atMs)) / 1_000),
    replicaSeconds: Math.round(replicaSeconds(moments)),
    ...changesOf(moments),
    mostReplicas: Object.fromEntries(STAGES.map((stage) => [stage, mostReplicas(moments, stage)])),
    meanLoad: rounded(meanLoad(moments)),
    clean: isClean(verdict),
    ...verdict,
  });
}

async function keep(stem: string, fixed: RunResult, autoscaled: RunResult): Promise<void> {
  await mkdir(join(stem, ".."), { recursive: true });
  const load = `machine's load ${meanLoad(fixed.moments).toFixed(1)} and ${meanLoad(autoscaled.moments).toFixed(1)} on average`;
  const subtitle = `${jobsOf(WAVE)} jobs in two bursts and a trickle; drained after ${Math.round(drainSeconds(fixed))} s and ${Math.round(drainSeconds(autoscaled))} s; ${load}`;
  await writeFile(`${stem}.svg`, plot({ fixed: fixed.moments, autoscaled: autoscaled.moments }, subtitle));
  for (const { mode, moments } of [fixed, autoscaled]) await writeFile(`${stem}-${mode}.csv`, csvOf(moments));
}
