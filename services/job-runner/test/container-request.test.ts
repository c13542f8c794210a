import { expect, test } from "@jest/globals";
import { limitsOf } from "../src/container/engine-limits.ts";
import { carrierRequest, containerRequest } from "../src/container/request.ts";
import { readSpec, workingDirOf } from "../src/container/spec.ts";
import { runnerConfig } from "../src/config.ts";

const MIB = 1_048_576;
const LIMITS = {
  network: "none",
  user: "65534:65534",
  memoryMb: 64,
  cpus: 1.5,
  pids: 32,
  tmpMb: 8,
  fileBytes: 5 * MIB,
};
const LABELS = { "sluice.job-runner": "w1" };
const IMAGE = "docker.io/library/tool:latest";
const LOG = { Type: "json-file", Config: { "max-size": "10m", "max-file": "1" } };

const volume = (Target: string) => ({
  Type: "volume",
  Source: "",
  Target,
  VolumeOptions: { NoCopy: false, Labels: LABELS, DriverConfig: { Name: "local", Options: {} } },
});
const inMemory = (Target: string) => ({
  Type: "tmpfs",
  Source: "",
  Target,
  TmpfsOptions: { SizeBytes: 8 * MIB, Mode: 0o1777 },
});

/** All of it: a line more is as much a change as a line less. */
const HOST = {
  Privileged: false,
  CapDrop: ["ALL"],
  SecurityOpt: ["no-new-privileges"],
  ReadonlyRootfs: true,
  NetworkMode: "none",
  IpcMode: "private",
  ShmSize: 8 * MIB,
  RestartPolicy: { Name: "no" },
  Memory: 64 * MIB,
  MemorySwap: 64 * MIB,
  NanoCpus: 1_500_000_000,
  PidsLimit: 32,
  Ulimits: [
    { Name: "core", Soft: 0, Hard: 0 },
    { Name: "fsize", Soft: 5 * MIB, Hard: 5 * MIB },
    { Name: "nofile", Soft: 1_024, Hard: 1_024 },
  ],
  Mounts: [volume("/data"), inMemory("/tmp")],
  LogConfig: LOG,
};
const WHOLE = {
  Image: IMAGE,
  WorkingDir: "/data",
  User: "65534:65534",
  Labels: LABELS,
  Healthcheck: { Test: ["NONE"] },
  HostConfig: HOST,
};
const given = { config: { Image: "tool", WorkingDir: "/data" }, image: IMAGE, labels: LABELS, imageVolumes: [] };

test.each([
  ["the least", given, {}, WHOLE],
  [
    "what is the image's own business",
    { ...given, config: { ...given.config, Cmd: ["a"], Entrypoint: ["b"], Env: ["C=d"], User: "1000" } },
    {},
    { ...WHOLE, Cmd: ["a"], Entrypoint: ["b"], Env: ["C=d"], User: "1000:1000" },
  ],
  [
    "volumes that the image declares",
    { ...given, imageVolumes: ["/var/lib/x", "/data", "/tmp"] },
    {},
    { ...WHOLE, HostConfig: { ...HOST, Mounts: [volume("/data"), inMemory("/tmp"), inMemory("/var/lib/x")] } },
  ],
  [
    "a working folder in place of /tmp",
    { ...given, config: { ...given.config, WorkingDir: "/tmp" } },
    {},
    { ...WHOLE, WorkingDir: "/tmp", HostConfig: { ...HOST, Mounts: [volume("/tmp")] } },
  ],
  [
    "a network that the settings name",
    given,
    { network: "jobs" },
    { ...WHOLE, HostConfig: { ...HOST, NetworkMode: "jobs" } },
  ],
])("the request for a container, whole: %s", (_, container, limits, expected) => {
  expect(containerRequest(container, { ...LIMITS, ...limits })).toEqual(expected);
});

test("the container that takes the input has the volume, and nothing to start", () => {
  expect(carrierRequest(given, "v1")).toEqual({
    Image: IMAGE,
    Labels: LABELS,
    Entrypoint: ["/never-started"],
    HostConfig: {
      NetworkMode: "none",
      CapDrop: ["ALL"],
      Mounts: [{ Type: "volume", Source: "v1", Target: "/data" }],
      LogConfig: LOG,
    },
  });
});

const config = (more: object) => readSpec({ Container: { Config: { Image: "x", ...more } } });

test.each(["root", "0", "0:0", "1000:0", "nobody", "00", "01", "-1", "1000:", "1:2:3", " 1", "4294967296"])(
  "a job cannot run as %j",
  (User) => {
    expect(config({ User })).toEqual({
      ok: false,
      why: expect.stringContaining("Container.Config.User: must be the number"),
    });
  },
);

test.each(["/", "//", "/.", "/./", "/proc", "/proc/self", "/./sys", "//dev/shm", "/../data", "data"])(
  "%j is no working folder",
  (WorkingDir) => {
    expect(config({ WorkingDir })).toEqual({
      ok: false,
      why: expect.stringContaining("Container.Config.WorkingDir: "),
    });
  },
);

test("a working folder is spelt in one way", () => {
  expect(["/data", "/data/", "//a/./b//"].map((WorkingDir) => workingDirOf({ WorkingDir }))).toEqual([
    "/data",
    "/data",
    "/a/b",
  ]);
  expect(workingDirOf({})).toBe("/data");
});

test("what an engine lacks is read from what it says of itself; what it does not say, it lacks", () => {
  const all = { MemoryLimit: true, SwapLimit: true, CpuCfsPeriod: true, CpuCfsQuota: true, PidsLimit: true };
  const has = { memory: true, swap: true, cpus: true, pids: true, seccomp: true };
  for (const profile of ["default", "builtin", "/etc/own.json"])
    expect(limitsOf({ ...all, SecurityOptions: ["name=apparmor", `name=seccomp,profile=${profile}`] })).toEqual(has);
  expect(limitsOf({ ...all, SecurityOptions: ["name=seccomp,profile=unconfined"] })).toEqual({
    ...has,
    seccomp: false,
  });
  expect(limitsOf({ ...all, SwapLimit: false, CpuCfsQuota: false, SecurityOptions: null })).toEqual({
    ...has,
    ...{ swap: false, cpus: false, seccomp: false },
  });
  expect(Object.values(limitsOf({}))).toEqual([false, false, false, false, false]);
});

const settings = (more: Readonly<Record<string, string>>) =>
  runnerConfig.safeParse({ ZOOKEEPER_CONNECT: "127.0.0.1:2181", ...more });

test.each([
  ["CONTAINER_NETWORK", "host", /CONTAINER_NETWORK.*must not be host/],
  ["CONTAINER_NETWORK", "container:abc", /CONTAINER_NETWORK.*must be the name of a network/],
  ["CONTAINER_USER", "0:0", /CONTAINER_USER.*not root/],
  ["CONTAINER_USER", "root", /CONTAINER_USER.*not root/],
  ["CONTAINER_IMAGES", "a/b,*", /CONTAINER_IMAGES.*"\*" names no image/],
  ["CONTAINER_IMAGES", "team*", /CONTAINER_IMAGES.*"team\*" names no image/],
  ["CONTAINER_IMAGES", "a/b,", /CONTAINER_IMAGES.*"" names no image/],
])("%s=%s does not start", (name, value, message) => {
  const { error } = settings({ [name]: value });
  expect(error?.issues.map(({ path, message: text }) => `${String(path[0])}: ${text}`).join("\n")).toMatch(message);
});

test("without settings containers have no image and no network", () => {
  const { data } = settings({});
  expect(data).toMatchObject({ CONTAINER_NETWORK: "none", CONTAINER_USER: "65534:65534" });
  expect(data?.CONTAINER_IMAGES).toBeUndefined();
});
