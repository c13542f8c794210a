/** Docker, as far as jobs need it. */
import Docker from "dockerode";
import type { Readable } from "node:stream";
import type { ContainerConfig } from "./spec.ts";

export const LABEL = "sluice.job-runner";
/** Tells a runner from an earlier one of its name. */
export const INSTANCE_LABEL = `${LABEL}.instance`;

export interface EngineSettings {
  /** As DOCKER_HOST has it. */
  readonly host: string;
  readonly network: string;
  readonly memoryMb: number;
  readonly cpus: number;
  readonly pids: number;
}

export interface OpenContainer {
  /** All that the engine says about it. */
  inspect(): Promise<Readonly<Record<string, unknown>>>;
  /** Files, under names from the top of its file system. */
  put(tape: Readable): Promise<void>;
  start(): Promise<void>;
  /** Its exit code. */
  wait(): Promise<number>;
  /** A folder of it, under the folder's own name. */
  get(path: string): Promise<NodeJS.ReadableStream>;
  remove(): Promise<void>;
}

export interface Engine {
  create(
    config: ContainerConfig & { readonly WorkingDir: string },
    labels: Readonly<Record<string, string>>,
  ): Promise<OpenContainer>;
  /** Removes what others left behind; answers how many. */
  sweep(isLeftBehind: (worker: string, instance: string) => boolean): Promise<number>;
}

export function openEngine(settings: EngineSettings): Engine {
  const docker = new Docker(addressOf(settings.host));
  return {
    async create(config, labels) {
      const options = { ...config, Labels: { ...labels }, HostConfig: hostConfig(settings) };
      const made = await docker.createContainer(options).catch(async (error: unknown) => {
        if (!isMissingImage(error)) throw error;
        await pulled(docker, config.Image);
        return docker.createContainer(options);
      });
      return opened(made);
    },
    async sweep(isLeftBehind) {
      const listed = await docker.listContainers({ all: true, filters: { label: [LABEL] } });
      const left = listed.filter(({ Labels }) => isLeftBehind(Labels[LABEL] ?? "", Labels[INSTANCE_LABEL] ?? ""));
      for (const { Id } of left) await opened(docker.getContainer(Id)).remove();
      return left.length;
    },
  };
}

/** Nothing of it is the job's to say. */
const hostConfig = ({ network, memoryMb, cpus, pids }: EngineSettings) => ({
  Privileged: false,
  CapDrop: ["ALL"],
  SecurityOpt: ["no-new-privileges"],
  NetworkMode: network,
  Memory: memoryMb * 1024 * 1024,
  MemorySwap: memoryMb * 1024 * 1024,
  NanoCpus: Math.round(cpus * 1e9),
  PidsLimit: pids,
  // Nobody reads them, and they stand on the engine's disk.
  LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "1" } },
});

function addressOf(host: string): Docker.DockerOptions {
  if (host.startsWith("unix://")) return { socketPath: host.slice("unix://".length) };
  const { hostname, port, protocol } = new URL(host);
  return { host: hostname, port: Number(port || "2375"), protocol: protocol === "https:" ? "https" : "http" };
}

const statusOf = (error: unknown): number | undefined => (error as { readonly statusCode?: number }).statusCode;
const isMissingImage = (error: unknown): boolean => statusOf(error) === 404;

/** Nobody is there, or not now: another time it may go well. */
export const isAway = (error: unknown): boolean =>
  ["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "") &&
  statusOf(error) === undefined &&
  (error as NodeJS.ErrnoException).syscall !== undefined;

async function pulled(docker: Docker, image: string): Promise<void> {
  const progress = await docker.pull(image);
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(progress, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}

function opened(container: Docker.Container): OpenContainer {
  return {
    inspect: async () => ({ ...(await container.inspect()) }),
    put: async (tape) => {
      await container.putArchive(tape, { path: "/" });
    },
    start: async () => {
      await container.start();
    },
    wait: async () => ((await container.wait()) as { readonly StatusCode: number }).StatusCode,
    get: (path) => container.getArchive({ path }),
    remove: async () => {
      await container.remove({ force: true, v: true }).catch((error: unknown) => {
        // Gone, or going.
        if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error;
      });
    },
  };
}
