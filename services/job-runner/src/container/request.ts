/** What the engine is asked for: the whole request to create a container, as data. Nothing in it but the image's own business is the job's. */
import type { ContainerConfig } from "./spec.ts";

export interface ContainerLimits {
  readonly network: string;
  /** `uid:gid`, for jobs that name none. */
  readonly user: string;
  readonly memoryMb: number;
  readonly cpus: number;
  readonly pids: number;
  /** Of /tmp, /dev/shm and each volume that the image declares; they are memory of the container. */
  readonly tmpMb: number;
  /** Of one file. */
  readonly fileBytes: number;
}

export interface AskedContainer {
  readonly config: ContainerConfig & { readonly WorkingDir: string };
  /** As the list of allowed images has it. */
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Folders that the image declares as volumes: without a mount of ours each would be a part of the engine's disk without a bound. */
  readonly imageVolumes: readonly string[];
}

const MIB = 1_048_576;
const OPEN_FILES = 1_024;
/** Read once, when the container has ended; it stands on the engine's disk. */
const LOG = { Type: "json-file", Config: { "max-size": "10m", "max-file": "1" } };
const TMP = "/tmp";

export const userOf = ({ User }: Pick<ContainerConfig, "User">, { user }: Pick<ContainerLimits, "user">): string => {
  const given = User ?? user;
  // Without a group Docker takes the one that the image's own files name, or root's.
  return given.includes(":") ? given : `${given}:${given}`;
};

/**
 * Its root cannot be written. What can: the working folder, a volume that goes with the container, because input is put there
 * before it starts and output is taken when it has ended; and /tmp, in memory. Docker's own seccomp profile holds, because none is named.
 */
export function containerRequest({ config, image, labels, imageVolumes }: AskedContainer, limits: ContainerLimits) {
  const { WorkingDir } = config;
  const inMemory = [TMP, ...imageVolumes].filter((path, at, all) => path !== WorkingDir && all.indexOf(path) === at);
  return {
    ...config,
    Image: image,
    User: userOf(config, limits),
    Labels: { ...labels },
    // It would be run by the engine, again and again, whatever the job asks for.
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      Privileged: false,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      ReadonlyRootfs: true,
      NetworkMode: limits.network,
      IpcMode: "private",
      ShmSize: limits.tmpMb * MIB,
      RestartPolicy: { Name: "no" },
      Memory: limits.memoryMb * MIB,
      // With the memory: none besides.
      MemorySwap: limits.memoryMb * MIB,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.pids,
      Ulimits: [
        { Name: "core", Soft: 0, Hard: 0 },
        { Name: "fsize", Soft: limits.fileBytes, Hard: limits.fileBytes },
        { Name: "nofile", Soft: OPEN_FILES, Hard: OPEN_FILES },
      ],
      Mounts: [
        { Type: "volume" as const, Source: "", Target: WorkingDir, VolumeOptions: volumeOptions(labels) },
        ...inMemory.map((Target) => ({
          Type: "tmpfs" as const,
          Source: "",
          Target,
          TmpfsOptions: { SizeBytes: limits.tmpMb * MIB, Mode: 0o1777 },
        })),
      ],
      LogConfig: LOG,
    },
  };
}

const volumeOptions = (labels: Readonly<Record<string, string>>) => ({
  // What the image has in its working folder stays there.
  NoCopy: false,
  Labels: { ...labels },
  DriverConfig: { Name: "local", Options: {} },
});

/**
 * The engine puts no files into a container whose root is read-only, and the folder of a new volume is root's. So a second
 * container with the same volume takes the input. It never starts, and nothing of it is kept.
 */
export function carrierRequest({ config, image, labels }: Omit<AskedContainer, "imageVolumes">, volume: string) {
  return {
    Image: image,
    Labels: { ...labels },
    // Some images name no command; without one nothing can be made.
    Entrypoint: ["/never-started"],
    HostConfig: {
      NetworkMode: "none",
      CapDrop: ["ALL"],
      Mounts: [{ Type: "volume" as const, Source: volume, Target: config.WorkingDir }],
      LogConfig: LOG,
    },
  };
}
