/** A container job: create, pull the input, start, wait, push the output. The container is removed whatever happens. */
import type { Handler } from "@sluice/wire";
import { type Ended, isOver, type JobInHand, type Runner, type RunPorts } from "../run/types.ts";
import { type Engine, INSTANCE_LABEL, isAway, LABEL, type OpenContainer } from "./engine.ts";
import type { Filesets } from "./filesets.ts";
import { matcherOf } from "./patterns.ts";
import { type ContainerSpec, readSpec } from "./spec.ts";
import { bounded, entriesOf, type FilesetBounds, only, packed, renamed } from "./tape.ts";

export interface ContainerPorts {
  /** Null: there is none, and why. */
  readonly engine: Engine | null;
  readonly filesets: Filesets;
  readonly worker: string;
  /** Of this process alone. */
  readonly instance: string;
  readonly timeoutMs: number;
  /** Names of images that jobs may use; one that ends with * stands for all that begin so. */
  readonly images: readonly string[];
  readonly output: FilesetBounds;
  readonly later: (ms: number, wake: () => void) => () => void;
}

const FAILED = 400;
const AWAY = 503;
const WORKING_DIR = "/data";

const succeeded = (info: string): Ended => ({ exit: 200, result: JSON.stringify({ Status: "SUCCESS", Info: info }) });
const failed = (info: string, exit = FAILED): Ended => ({
  exit,
  result: JSON.stringify({ Status: "FAILURE", Info: info }),
});

export function containerRunner(ports: ContainerPorts): Runner {
  return {
    batch: 1,
    run: async ({ jobs }, handler, run) => {
      for (const job of jobs) await runJob(job, handler, run, ports);
    },
    close: () => Promise.resolve(),
  };
}

async function runJob(job: JobInHand, handler: Handler, run: RunPorts, ports: ContainerPorts): Promise<void> {
  const signal = run.signalOf(job);
  if (signal.aborted) return;
  run.started(job);
  const data = withDefaults(job.data, handler);
  const read = readSpec(data);
  const { engine } = ports;
  const ended = !read.ok
    ? failed(read.why)
    : !isAllowedImage(read.spec.config.Image, ports.images)
      ? failed(`Container.Config.Image: ${read.spec.config.Image} is none of CONTAINER_IMAGES of this runner`)
      : engine === null
        ? failed("there is no Docker engine here", AWAY)
        : await runContainer({ ...job, data }, read.spec, {
            run,
            ports,
            engine,
            signal,
            timeoutMs: handler.timeoutMs ?? ports.timeoutMs,
          });
  if (!isOver(signal)) await run.settle(job, ended);
}

/** The engine would fetch whatever it is asked for, from wherever. */
const isAllowedImage = (image: string, allowed: readonly string[]): boolean =>
  allowed.some((each) => (each.endsWith("*") ? image.startsWith(each.slice(0, -1)) : image === each));

/** A handler's body may hold what its jobs leave out. */
function withDefaults(data: JobInHand["data"], { body }: Handler): JobInHand["data"] {
  try {
    const defaults: unknown = JSON.parse(body);
    return typeof defaults === "object" && defaults !== null ? { ...defaults, ...data } : data;
  } catch {
    return data;
  }
}

interface Course {
  readonly run: RunPorts;
  readonly ports: ContainerPorts;
  readonly engine: Engine;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

async function runContainer(job: JobInHand, spec: ContainerSpec, course: Course): Promise<Ended> {
  const { engine, ports, run, signal } = course;
  const workingDir = spec.config.WorkingDir ?? WORKING_DIR;
  let step = "create";
  let container: OpenContainer | null = null;
  /** Saying where we are tells us whether the job is still ours: nothing is done for one that is not, least of all a push. */
  const enter = async (next: string, data?: JobInHand["data"]): Promise<void> => {
    step = next;
    await run.step(job, next, data);
    if (signal.aborted) throw new Error("the job is no longer ours");
  };
  try {
    await enter("create");
    container = await engine.create({ ...spec.config, WorkingDir: workingDir }, labelsOf(job, ports));
    // What the engine says of it, and the configuration as it was given.
    const described = { ...(await container.inspect()), Config: spec.config };
    const data = { ...job.data, Container: described };
    await enter("pull", data);
    if (spec.input !== null) await pull(container, job.tenant, spec.input, workingDir, ports.filesets);
    await enter("start", data);
    await container.start();
    await enter("wait", data);
    const exit = await waited(container, course);
    if (exit === "late") return failed(`no end within ${course.timeoutMs} ms`, 504);
    if (exit === "aborted") return failed("the job is no longer ours", AWAY);
    await enter("push", data);
    if (spec.output !== null) await push(container, job.tenant, spec.output, workingDir, ports);
    return exit === 0 ? succeeded("exit code 0") : failed(`exit code ${exit}`);
  } catch (error) {
    return failed(`${step}: ${messageOf(error)}`, isAway(error) ? AWAY : FAILED);
  } finally {
    await container?.remove().catch(() => undefined);
  }
}

const labelsOf = ({ id, tenant }: JobInHand, { worker, instance }: ContainerPorts) => ({
  [LABEL]: worker,
  [INSTANCE_LABEL]: instance,
  [`${LABEL}.job`]: String(id),
  [`${LABEL}.tenant`]: tenant,
});

type FilesetOf = NonNullable<ContainerSpec["input"]>;

async function pull(
  container: OpenContainer,
  tenant: string,
  set: FilesetOf,
  dir: string,
  filesets: Filesets,
): Promise<void> {
  const files = only(filesets.read(tenant, set.Name), matcherOf(set.Patterns ?? undefined));
  const prefix = dir.replace(/^\/+/, "");
  await container.put(packed(renamed(files, (name) => `${prefix}/${name}`)));
}

async function push(
  container: OpenContainer,
  tenant: string,
  set: FilesetOf,
  dir: string,
  { filesets, output }: Pick<ContainerPorts, "filesets" | "output">,
): Promise<void> {
  const top = `${
    dir
      .split("/")
      .filter((part) => part !== "")
      .at(-1) ?? ""
  }/`;
  const inside = renamed(entriesOf((await container.get(dir)) as AsyncIterable<Uint8Array>), (name) =>
    name.startsWith(top) ? name.slice(top.length) : null,
  );
  const wanted = only(inside, matcherOf(set.Patterns ?? undefined));
  await filesets.write(tenant, set.Name, bounded(wanted, output));
}

/** One that takes too long, or whose job has become another's, is removed, which ends it. */
async function waited(
  container: OpenContainer,
  { signal, timeoutMs, ports }: Course,
): Promise<number | "late" | "aborted"> {
  return new Promise((resolve, reject) => {
    const stop = ports.later(timeoutMs, () => resolve("late"));
    const onAbort = (): void => resolve("aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    container
      .wait()
      .then(resolve, reject)
      .finally(() => {
        stop();
        signal.removeEventListener("abort", onAbort);
      });
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
