/** Docker, as far as jobs need it. */
import Docker from "dockerode";
import type { Readable } from "node:stream";
import { type EngineInfo, type EngineLimits, limitsOf } from "./engine-limits.ts";
import { Images } from "./images.ts";
import { EngineAway, imagePorts, statusOf } from "./image-ports.ts";
import { printedLines } from "./printed-lines.ts";
import { type AskedContainer, carrierRequest, type ContainerLimits, containerRequest } from "./request.ts";

export const LABEL = "sluice.job-runner";
/** Tells a runner from an earlier one of its name. */
export const INSTANCE_LABEL = `${LABEL}.instance`;

export interface EngineSettings extends ContainerLimits {
  /** As DOCKER_HOST has it. */
  readonly host: string;
  /** Of an image that is fetched. */
  readonly imageBytes: number;
  readonly imageKeepMs: number;
  readonly pullMs: number;
}

export interface OpenContainer {
  /** All that the engine says about it now. */
  inspect(): Promise<Readonly<Record<string, unknown>>>;
  /** Files, under names from the top of its file system. */
  put(tape: Readable): Promise<void>;
  start(): Promise<void>;
  /** Its exit code. */
  wait(): Promise<number>;
  /** Lines on its standard output, as far as the engine keeps them. */
  printed(): Promise<readonly string[]>;
  /** The engine ended it, or a process of it, for that. */
  ranOutOfMemory(): Promise<boolean>;
  /** A folder of it, under the folder's own name. */
  get(path: string): Promise<NodeJS.ReadableStream>;
  /** Bytes in its working folder. Null: the engine does not know now. */
  written(): Promise<number | null>;
  remove(): Promise<void>;
}

export interface Engine {
  create(asked: Omit<AskedContainer, "imageVolumes">): Promise<OpenContainer>;
  /** Which limits it can hold containers to. */
  limits(): Promise<EngineLimits>;
  /** Removes containers that others left behind, and images that nobody used for a while; answers how many. */
  sweep(isLeftBehind: (worker: string, instance: string) => boolean): Promise<Swept>;
  /** Removes the images that this runner fetched, unless they are in use. */
  close(): Promise<void>;
}

export interface Swept {
  readonly containers: number;
  readonly images: number;
}

export function openEngine(settings: EngineSettings, nowMs: () => number): Engine {
  const docker = new Docker(addressOf(settings.host));
  const images = new Images({
    ...imagePorts(docker, settings.pullMs),
    nowMs,
    maxBytes: settings.imageBytes,
    keepMs: settings.imageKeepMs,
  });
  const usage = diskUsage(docker);
  return {
    async create(asked) {
      const { volumes } = await images.use(asked.image);
      try {
        const made = await docker.createContainer(containerRequest({ ...asked, imageVolumes: volumes }, settings));
        return opened(made, { docker, asked, usage, onRemoved: () => images.done(asked.image) });
      } catch (error) {
        images.done(asked.image);
        throw error;
      }
    },
    limits: async () => limitsOf((await docker.info()) as EngineInfo),
    async sweep(isLeftBehind) {
      const listed = await docker.listContainers({ all: true, filters: { label: [LABEL] } });
      const left = listed.filter(({ Labels }) => isLeftBehind(Labels[LABEL] ?? "", Labels[INSTANCE_LABEL] ?? ""));
      for (const { Id } of left) await removed(docker.getContainer(Id));
      return { containers: left.length, images: await images.tidy() };
    },
    close: async () => {
      await images.tidy(0);
    },
  };
}

function addressOf(host: string): Docker.DockerOptions {
  if (host.startsWith("unix://")) return { socketPath: host.slice("unix://".length) };
  const { hostname, port, protocol } = new URL(host);
  return { host: hostname, port: Number(port || "2375"), protocol: protocol === "https:" ? "https" : "http" };
}

/** Nobody is there, or not now: another time it may go well. */
export const isAway = (error: unknown): boolean =>
  error instanceof EngineAway ||
  (["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "") &&
    statusOf(error) === undefined &&
    (error as NodeJS.ErrnoException).syscall !== undefined);

interface Surroundings {
  readonly docker: Docker;
  readonly asked: Omit<AskedContainer, "imageVolumes">;
  readonly usage: (volume: string) => Promise<number | null>;
  readonly onRemoved: () => void;
}

function opened(container: Docker.Container, { docker, asked, usage, onRemoved }: Surroundings): OpenContainer {
  const { WorkingDir } = asked.config;
  const inspected = once(() => container.inspect());
  const volume = async (): Promise<string> => {
    const { Mounts } = await inspected();
    const name = Mounts.find(({ Destination }) => Destination === WorkingDir)?.Name;
    if (name === undefined) throw new Error("the engine made no volume for the working folder");
    return name;
  };
  return {
    inspect: async () => ({ ...(await container.inspect()) }),
    put: async (tape) => {
      const carrier = await docker.createContainer(carrierRequest(asked, await volume()));
      try {
        await carrier.putArchive(tape, { path: "/" });
      } finally {
        await removed(carrier);
      }
    },
    start: async () => {
      await container.start();
    },
    wait: async () => ((await container.wait()) as { readonly StatusCode: number }).StatusCode,
    printed: async () => printedLines(await container.logs({ stdout: true, stderr: false, follow: false })),
    ranOutOfMemory: async () => (await container.inspect()).State.OOMKilled,
    get: (path) => container.getArchive({ path }),
    written: async () => usage(await volume()),
    remove: async () => {
      await removed(container);
      onRemoved();
    },
  };
}

/** With the volumes that are its own. */
async function removed(container: Docker.Container): Promise<void> {
  await container.remove({ force: true, v: true }).catch((error: unknown) => {
    // Gone, or going.
    if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error;
  });
}

function once<T>(what: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | null = null;
  return () => (known ??= what());
}

interface VolumeUsage {
  readonly Name: string;
  readonly UsageData?: { readonly Size: number } | null;
}

interface DiskUsage {
  readonly Volumes?: readonly VolumeUsage[] | null;
}

/** The engine counts all volumes at once, and older ones refuse a second count meanwhile: those who ask at the same time share one. */
function diskUsage(docker: Docker): (volume: string) => Promise<number | null> {
  let counting: Promise<DiskUsage> | null = null;
  const count = (): Promise<DiskUsage> =>
    (counting ??= (docker.df() as Promise<DiskUsage>).finally(() => (counting = null)));
  return async (volume) => {
    const { Volumes } = await count();
    const bytes = Volumes?.find(({ Name }) => Name === volume)?.UsageData?.Size;
    return bytes === undefined || bytes < 0 ? null : bytes;
  };
}
