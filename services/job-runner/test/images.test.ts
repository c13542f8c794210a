import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { type Engine, openEngine } from "../src/container/engine.ts";
import { watchEngine } from "../src/container/open-engine.ts";
import { asked, LIMITS, MIB, openTestEngine, run, tidyUp } from "./support/container-run.ts";
import { fakeDocker, type FakeDocker } from "./support/fake-docker.ts";

let docker: FakeDocker;
let engine: Engine;
const clock = { ms: 0 };
const FETCHED = "docker.io/library/elsewhere:latest";
const OWN = "docker.io/library/img:latest";
const job = (Image: string) => ({ Container: { Config: { Image } } });
const isNone = () => false;

beforeAll(async () => {
  docker = await fakeDocker();
  engine = openEngine({ host: docker.host, ...LIMITS, imageKeepMs: 1_000 }, () => clock.ms);
});
afterEach(async () => {
  docker.containers.clear();
  docker.progress = [{ status: "done" }];
  docker.imageBytes = 1_000;
  docker.program = () => 0;
  await engine.close();
  docker.asked.length = 0;
});
afterAll(async () => {
  await docker.close();
  await tidyUp();
});

test("an image that was fetched is removed when nobody has used it for a while; one that was there stays", async () => {
  await run(engine, job("elsewhere"));
  await run(engine, job("img"));
  expect([...docker.images.keys()].sort()).toEqual([FETCHED, OWN]);
  clock.ms += 999;
  await engine.sweep(isNone);
  expect(docker.images.has(FETCHED)).toBe(true);
  // A use begins the time anew, and fetches nothing.
  await run(engine, job("elsewhere"));
  clock.ms += 999;
  expect(await engine.sweep(isNone)).toEqual({ containers: 0, images: 0 });
  clock.ms += 1;
  expect(await engine.sweep(isNone)).toEqual({ containers: 0, images: 1 });
  expect([...docker.images.keys()]).toEqual([OWN]);
  expect(docker.asked.filter((what) => what === "pull")).toHaveLength(1);
});

test("while a container of ours or of others uses it, it stays", async () => {
  const ours = await engine.create({ ...asked({}), image: FETCHED });
  clock.ms += 10_000;
  await engine.sweep(isNone);
  expect(docker.asked).not.toContain("remove image");
  // Of another runner: the engine alone knows of it.
  const others = openTestEngine(docker.host);
  const theirs = await others.create({ ...asked({}), image: FETCHED });
  await ours.remove();
  clock.ms += 10_000;
  expect(await engine.sweep(isNone)).toMatchObject({ images: 0 });
  await theirs.remove();
  expect(await engine.sweep(isNone)).toMatchObject({ images: 1 });
});

test("a runner that ends removes what it fetched", async () => {
  await run(engine, job("elsewhere"));
  await engine.close();
  expect([...docker.images.keys()]).toEqual([OWN]);
});

test("two jobs at once fetch an image once", async () => {
  await Promise.all([run(engine, job("elsewhere")), run(engine, job("elsewhere"))]);
  expect(docker.asked.filter((what) => what === "pull")).toHaveLength(1);
});

test("an image that is too large is not kept: by what its layers say while they come, or by what is there at the end", async () => {
  docker.progress = [6, 3, 2].map((total, id) => ({
    ...{ id: `layer${id}`, status: "Downloading" },
    progressDetail: { current: 1, total: total * MIB },
  }));
  const layers = await run(engine, job("elsewhere"));
  expect([layers.exit, layers.result.Info]).toEqual([
    400,
    `create: the image ${FETCHED} is larger than 10485760 bytes (CONTAINER_IMAGE_MAX_MB of this runner)`,
  ]);
  docker.images.delete(FETCHED);
  docker.progress = [];
  docker.imageBytes = 11 * MIB;
  const whole = await run(engine, job("elsewhere"));
  expect(whole).toMatchObject({ exit: 400, result: layers.result });
  expect(docker.images.has(FETCHED)).toBe(false);
  expect(docker.asked).not.toContain("create");
});

test("an image that cannot be fetched now is tried again, one that does not exist is not", async () => {
  docker.progress = [{ status: "Pulling" }, { error: "net/http: TLS handshake timeout" }];
  expect(await run(engine, job("elsewhere"))).toMatchObject({
    exit: 503,
    result: { Info: expect.stringContaining("could not be fetched: net/http: TLS handshake timeout") },
  });
  expect(await run(engine, job("missing"))).toMatchObject({ exit: 400 });
});

test("which limits the engine lacks is said once, when it answers", async () => {
  const lines: [string, unknown, string][] = [];
  const note = (level: string) => (facts: unknown, text: string) => void lines.push([level, facts, text]);
  const log = { info: note("info"), warn: note("warn"), error: note("error") } as never;
  const limits: object[] = [];
  docker.info = { MemoryLimit: true, PidsLimit: true, SecurityOptions: ["name=seccomp,profile=default"] };
  const watch = watchEngine(engine, log, (found) => limits.push(found));
  await watch.look();
  await watch.sweep(isNone);
  expect(lines).toEqual([
    ["warn", { missing: ["swap", "cpus"] }, "the Docker engine lacks limits: containers run without them"],
  ]);
  expect(limits).toEqual([{ memory: true, swap: false, cpus: false, pids: true, seccomp: true }]);
  lines.length = 0;
  const away = watchEngine(openTestEngine("unix:///nowhere/docker.sock"), log, () => undefined);
  await away.look();
  await away.sweep(isNone);
  expect(lines.map(([level, , text]) => [level, text])).toEqual([
    ["warn", "the Docker engine does not answer: container jobs wait"],
  ]);
});

test("a container that writes more than it may is ended, and nothing of it is kept", async () => {
  docker.program = (files) => {
    files.set("/data/large", "x".repeat(2_000));
    return "never";
  };
  const looks: number[] = [];
  const ran = await run(
    engine,
    { ...job("img"), Fileset: { Output: { Name: "none" } } },
    {
      diskBytes: 1_000,
      later: (ms, wake) => {
        if (ms > 10_000) return () => undefined;
        looks.push(ms);
        const turn = setImmediate(wake);
        return () => clearImmediate(turn);
      },
    },
  );
  expect(ran).toMatchObject({
    exit: 413,
    result: { Info: "the working folder holds more than 1000 bytes (CONTAINER_DISK_MB of this runner)" },
  });
  expect(ran.steps.at(-1)).toBe("wait");
  expect(looks.length).toBeGreaterThan(0);
  expect(docker.containers.size).toBe(0);
});
