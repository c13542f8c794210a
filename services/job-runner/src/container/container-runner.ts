/** A container job: create, pull the input, start, wait, push the output. The container is removed whatever happens. */
import type { Handler } from "@sluice/wire";
import { type Ended, isOver, type JobInHand, type Runner, type RunPorts } from "../run/types.ts";
import { type Engine, INSTANCE_LABEL, isAway, LABEL, type OpenContainer } from "./engine.ts";
import type { Filesets } from "./filesets.ts";
import { matcherOf } from "./patterns.ts";
import { type AllowedImage, allowedImage } from "./image-reference.ts";
import { userOf } from "./request.ts";
import { type ContainerSpec, readSpec, workingDirOf } from "./spec.ts";
import { atMost, bounded, entriesOf, type FileEntry, type FilesetBounds, only, packed, renamed } from "./tape.ts";

export interface ContainerPorts {
  /** Null: there is none, and why. */
  readonly engine: Engine | null;
  readonly filesets: Filesets;
  readonly worker: string;
  /** Of this process alone. */
  readonly instance: string;
  readonly timeoutMs: number;
  /** Images that jobs may use. */
  readonly images: readonly AllowedImage[];
  /** Whom containers run as when the job does not say. */
  readonly user: string;
  /** Of the input and of the output. */
  readonly filesetBounds: FilesetBounds;
  /** What a container may write into its working folder. */
  readonly diskBytes: number;
  readonly onRefused: (refused: RefusedImage) => void;
  readonly later: (ms: number, wake: () => void) => () => void;
}

export interface RefusedImage {
  readonly tenant: string;
  readonly job: number;
  readonly image: string;
}

const FAILED = 400;
const AWAY = 503;
const TOO_LARGE = 413;
const WATCH_DISK_MS = 5_000;
/** Headers and padding of a tape, which are no bytes of files. */
const TAPE_OVERHEAD = 1.5;

const succeeded = (info: string): Ended => ({
  exit: 200,
  result: JSON.stringify({ Status: "SUCCESS", Info: info }),
});
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
  const timeoutMs = handler.timeoutMs ?? ports.timeoutMs;
  const ended = await endOf({ ...job, data }, { run, ports, signal, timeoutMs });
  if (!isOver(signal)) await run.settle(job, ended);
}

/** The engine would fetch whatever it is asked for, from wherever: nothing is asked of it about an image that is not in the list. */
async function endOf(job: JobInHand, course: Omit<Course, "engine">): Promise<Ended> {
  const { engine, images, onRefused } = course.ports;
  const read = readSpec(job.data);
  if (!read.ok) return failed(read.why);
  const { Image } = read.spec.config;
  const image = allowedImage(Image, images);
  if (image === null) {
    onRefused({ tenant: job.tenant, job: job.id, image: Image });
    return failed(
      `Container.Config.Image: ${Image} is none of CONTAINER_IMAGES of this runner. Use one of them, or ask the operator to add it`,
    );
  }
  if (engine === null) return failed("there is no Docker engine here", AWAY);
  return runContainer(job, { ...read.spec, image }, { ...course, engine });
}

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

interface AllowedSpec extends ContainerSpec {
  /** As the engine is asked for it. */
  readonly image: string;
}

async function runContainer(job: JobInHand, spec: AllowedSpec, course: Course): Promise<Ended> {
  const { engine, ports, run, signal } = course;
  const workingDir = workingDirOf(spec.config);
  let step = "create";
  let container: OpenContainer | null = null;
  /** The job as it stands, with what the engine says of its container now. */
  const described = async (open: OpenContainer): Promise<JobInHand["data"]> => describedJob(job, spec, open);
  /** Saying where we are tells us whether the job is still ours: nothing is done for one that is not, least of all a push. */
  const enter = async (next: string): Promise<void> => {
    step = next;
    await run.step(job, next, container === null ? undefined : await described(container));
    if (signal.aborted) throw new Error("the job is no longer ours");
  };
  /** With what the engine says at the end; that it says nothing any more changes nothing about the end. */
  const ended = async (open: OpenContainer, end: Ended): Promise<Ended> => {
    const data = await described(open).catch(() => null);
    return data === null ? end : { ...end, data };
  };
  try {
    await enter("create");
    const config = { ...spec.config, WorkingDir: workingDir };
    const open = await engine.create({ config, image: spec.image, labels: labelsOf(job, ports) });
    container = open;
    await enter("pull");
    await pull(open, job.tenant, { ...spec, workingDir }, ports);
    await enter("start");
    await open.start();
    await enter("wait");
    const exit = await waited(open, course);
    if (exit === "aborted") return failed("the job is no longer ours", AWAY);
    if (exit === "late") return await ended(open, failed(`no end within ${course.timeoutMs} ms`, 504));
    if (exit === "too much") return await ended(open, failed(tooMuch(ports), TOO_LARGE));
    const lines = await open.printed();
    await enter("push");
    if (spec.output !== null) await push(open, job.tenant, spec.output, workingDir, ports);
    if (exit === 0) return await ended(open, { ...succeeded("exit code 0"), lines });
    const why = (await open.ranOutOfMemory()) ? ": it needs more memory than CONTAINER_MEMORY_MB of this runner" : "";
    return await ended(open, { ...failed(`exit code ${exit}${why}`), lines });
  } catch (error) {
    return failed(`${step}: ${messageOf(error)}`, isAway(error) ? AWAY : FAILED);
  } finally {
    await container?.remove().catch(() => undefined);
  }
}

/** What the engine says, and the configuration as it was given. The queue keeps the States itself. */
async function describedJob(
  { data: { States: _, ...data } }: JobInHand,
  { config }: AllowedSpec,
  open: OpenContainer,
): Promise<JobInHand["data"]> {
  return { ...data, Container: { ...(await open.inspect()), Config: config } };
}

const labelsOf = ({ id, tenant }: JobInHand, { worker, instance }: ContainerPorts) => ({
  [LABEL]: worker,
  [INSTANCE_LABEL]: instance,
  [`${LABEL}.job`]: String(id),
  [`${LABEL}.tenant`]: tenant,
});

type FilesetOf = NonNullable<ContainerSpec["input"]>;

/** The working folder and what is put into it belong to whom the container runs as, also when there is no input. */
async function pull(
  container: OpenContainer,
  tenant: string,
  { config, input, workingDir }: ContainerSpec & { readonly workingDir: string },
  { filesets, filesetBounds, user }: ContainerPorts,
): Promise<void> {
  const folder = workingDir.slice(1);
  const [uid, gid] = userOf(config, { user }).split(":").map(Number);
  const wanted =
    input === null ? none() : only(filesets.read(tenant, input.Name), matcherOf(input.Patterns ?? undefined));
  const files = renamed(bounded(wanted, filesetBounds, "input"), (name) => `${folder}/${name}`);
  await container.put(packed(files, { folder, owner: { uid: uid ?? 0, gid: gid ?? 0 } }));
}

async function* none(): AsyncGenerator<FileEntry> {
  // No input.
}

async function push(
  container: OpenContainer,
  tenant: string,
  set: FilesetOf,
  dir: string,
  ports: ContainerPorts,
): Promise<void> {
  const top = `${
    dir
      .split("/")
      .filter((part) => part !== "")
      .at(-1) ?? ""
  }/`;
  const tape = (await container.get(dir)) as AsyncIterable<Uint8Array>;
  const inside = renamed(entriesOf(atMost(tape, ports.diskBytes * TAPE_OVERHEAD, tooMuch(ports))), (name) =>
    name.startsWith(top) ? name.slice(top.length) : null,
  );
  const wanted = only(inside, matcherOf(set.Patterns ?? undefined));
  await ports.filesets.write(tenant, set.Name, bounded(wanted, ports.filesetBounds, "output"));
}

const tooMuch = ({ diskBytes }: Pick<ContainerPorts, "diskBytes">): string =>
  `the working folder holds more than ${diskBytes} bytes (CONTAINER_DISK_MB of this runner)`;

/** One that takes too long or too much, or whose job has become another's, is removed, which ends it. */
async function waited(
  container: OpenContainer,
  { signal, timeoutMs, ports }: Course,
): Promise<number | "late" | "aborted" | "too much"> {
  return new Promise((resolve, reject) => {
    const stopClock = ports.later(timeoutMs, () => resolve("late"));
    const stopWatch = watchDisk(container, ports, () => resolve("too much"));
    const onAbort = (): void => resolve("aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    container
      .wait()
      .then(resolve, reject)
      .finally(() => {
        stopClock();
        stopWatch();
        signal.removeEventListener("abort", onAbort);
      });
  });
}

/** Most engines have no quota for a volume, so what a container writes is looked at from time to time. */
function watchDisk(container: OpenContainer, { later, diskBytes }: ContainerPorts, onTooMuch: () => void): () => void {
  let isOver = false;
  let stop = (): void => undefined;
  const judge = (bytes: number | null): void => (bytes !== null && bytes > diskBytes ? onTooMuch() : again());
  const again = (): void => {
    if (isOver) return;
    // An engine that cannot say it now is asked again.
    stop = later(WATCH_DISK_MS, () => {
      container.written().then(judge, again).catch(again);
    });
  };
  again();
  return () => {
    isOver = true;
    stop();
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
