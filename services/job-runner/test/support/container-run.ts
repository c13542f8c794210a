/** One container job, run by itself against an engine. */
import { createEgress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { later } from "@sluice/testkit";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ContainerPorts, containerRunner } from "../../src/container/container-runner.ts";
import { type Engine, openEngine } from "../../src/container/engine.ts";
import { type Filesets, openFilesets } from "../../src/container/filesets.ts";
import { parseAllowed } from "../../src/container/image-reference.ts";
import type { Ended, JobInHand } from "../../src/run/types.ts";
import { aHandler, aJob } from "./sandbox.ts";

export const MIB = 1_048_576;
export const LIMITS = {
  ...{ network: "none", user: "65534:65534", memoryMb: 64, cpus: 1, pids: 64, tmpMb: 8, fileBytes: 4 * MIB },
  ...{ imageBytes: 10 * MIB, imageKeepMs: 60_000, pullMs: 60_000 },
};
export const folder = await mkdtemp(join(tmpdir(), "sluice-filesets-"));
export const egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK } });

/** By a clock that stands, if none is given. */
export const openTestEngine = (host: string, nowMs = () => 0): Engine => openEngine({ host, ...LIMITS }, nowMs);

export async function tidyUp(): Promise<void> {
  await egress.close();
  await rm(folder, { recursive: true });
}

export async function putFiles(set: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, "alpha", set, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

interface Ran {
  readonly result: { readonly Status: string; readonly Info: string };
  readonly exit: number;
  readonly lines: readonly string[];
  readonly steps: readonly string[];
  /** At each step, and at the end. */
  readonly data: readonly JobInHand["data"][];
}

interface Given {
  readonly filesets?: Filesets;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly images?: readonly string[];
  readonly diskBytes?: number;
  /** Without it by the clock. */
  readonly later?: ContainerPorts["later"];
  readonly onRefused?: ContainerPorts["onRefused"];
  /** Before a step is shown. */
  readonly onStep?: (step: string) => void;
}

export async function run(engine: Engine, data: JobInHand["data"], given: Given = {}): Promise<Ran> {
  const runner = containerRunner({
    engine,
    filesets: given.filesets ?? openFilesets(folder, egress),
    worker: "w1",
    instance: "i2",
    timeoutMs: given.timeoutMs ?? 60_000,
    images: (given.images ?? ["docker.io/library/*"]).map((text) => parseAllowed(text)!),
    user: LIMITS.user,
    filesetBounds: { files: 3, bytes: 1_000_000 },
    diskBytes: given.diskBytes ?? 4 * MIB,
    onRefused: given.onRefused ?? (() => undefined),
    later: given.later ?? later,
  });
  const job = aJob("", { type: "container", data });
  const steps: string[] = [];
  const shown: JobInHand["data"][] = [];
  const ends: Ended[] = [];
  const signal = given.signal ?? new AbortController().signal;
  await runner.run({ tenant: "alpha", type: "container", jobs: [job] }, aHandler("{}", { lang: "container" }), {
    signalOf: () => signal,
    started: () => undefined,
    settle: (_, ended) => Promise.resolve(void ends.push(ended)),
    step: (_, step, more) => {
      given.onStep?.(step);
      steps.push(step);
      if (more !== undefined) shown.push(more);
      return Promise.resolve();
    },
  });
  const [end] = ends;
  const result = JSON.parse(end?.result ?? '{"Status":"","Info":""}') as Ran["result"];
  const told = end?.data === undefined ? shown : [...shown, end.data];
  return { result, exit: end?.exit ?? 0, lines: end?.lines ?? [], steps, data: told };
}

export const config = (more: object = {}) => ({ Container: { Config: { Image: "img", ...more } } });

export const asked = (labels: Readonly<Record<string, string>>) => ({
  config: { Image: "img", WorkingDir: "/data" },
  image: "docker.io/library/img:latest",
  labels,
});
