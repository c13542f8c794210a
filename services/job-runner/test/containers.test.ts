import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { serveHttp, waitFor } from "@sluice/testkit";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../src/container/engine.ts";
import { openFilesets } from "../src/container/filesets.ts";
import { asked, config, egress, folder, openTestEngine, putFiles, run, tidyUp } from "./support/container-run.ts";
import { fakeDocker, type FakeDocker } from "./support/fake-docker.ts";

afterAll(tidyUp);

describe("with a Docker of our own making", () => {
  let docker: FakeDocker;
  let engine: Engine;
  beforeAll(async () => {
    docker = await fakeDocker();
    engine = openTestEngine(docker.host);
  });
  afterEach(() => {
    docker.asked.length = 0;
    docker.program = () => 0;
    docker.progress = [{ status: "done" }];
    docker.imageBytes = 1_000;
    docker.output = [];
  });
  afterAll(() => docker.close());

  test("an image that the runner does not name is not even asked for", async () => {
    const refused: unknown[] = [];
    for (const images of [[], ["imgs"], ["registry.example/team/*"]]) {
      const ran = await run(engine, config(), { images, onRefused: (what) => refused.push(what) });
      expect([ran.exit, ran.result.Info]).toEqual([
        400,
        "Container.Config.Image: img is none of CONTAINER_IMAGES of this runner. Use one of them, or ask the operator to add it",
      ]);
    }
    expect(docker.asked).toEqual([]);
    expect(refused).toEqual(Array(3).fill({ tenant: "alpha", job: expect.any(Number), image: "img" }));
    expect((await run(engine, config(), { images: ["img"] })).exit).toBe(200);
    expect((await run(engine, config(), { images: ["docker.io/library/*"] })).exit).toBe(200);
  });

  test("M21: what a container prints is its job's, so that its J: lines count like those of others", async () => {
    docker.output = [
      ["stdout", "J: resize|ein B"],
      ["stderr", "J: resize|not this\n"],
      ["stdout", "ild\r\nnoise\nJ: mail|last"],
    ];
    expect((await run(engine, config())).lines).toEqual(["J: resize|ein Bild", "noise", "J: mail|last"]);
    docker.program = () => 3;
    expect(await run(engine, config())).toMatchObject({ exit: 400, lines: { length: 3 } });
    docker.program = () => "never";
    expect(await run(engine, config(), { timeoutMs: 1 })).toMatchObject({ exit: 504, lines: [] });
  });

  test("what a container leaves is bounded, in files and in bytes", async () => {
    const output = { ...config(), Fileset: { Output: { Name: "much" } } };
    docker.program = (files) => {
      for (let n = 0; n < 4; n++) files.set(`/data/${n}`, "x");
      return 0;
    };
    expect((await run(engine, output)).result.Info).toBe("push: the output has more than 3 files");
    docker.program = (files) => {
      files.set("/data/large", "x".repeat(1_000_001));
      return 0;
    };
    expect((await run(engine, output)).result.Info).toBe("push: the output has more than 1000000 bytes");
    // Nothing of it is kept.
    expect((await readdir(join(folder, "alpha"))).filter((name) => name.startsWith("much"))).toEqual([]);
  });

  test("E14, E16, E17: create, pull by patterns, start, wait, push by patterns; each step is shown; the container is gone", async () => {
    await putFiles("foo", { "a.py": "print", "b.txt": "no", "bin/tool": "t", "deep/x.py": "no" });
    let seen: string[] = [];
    docker.program = (files) => {
      seen = [...files.keys()].sort();
      files.set("/data/out.dat", "42");
      files.set("/data/sub/more.dat", "43");
      files.set("/data/log.txt", "no");
      return 0;
    };
    const ran = await run(engine, {
      ...config(),
      Fileset: {
        Input: { Name: "foo", Patterns: ["*.py", "bin/*"] },
        Output: { Name: "foo_result", Patterns: ["**/*.dat"] },
      },
    });
    expect(ran).toMatchObject({ exit: 200, result: { Status: "SUCCESS", Info: "exit code 0" } });
    expect(ran.steps).toEqual(["create", "pull", "start", "wait", "push"]);
    expect(seen).toEqual(["/data/a.py", "/data/bin/tool"]);
    expect(docker.asked).toEqual([
      "create",
      "GET json",
      // Of the volume that is its working folder.
      "GET json",
      "create carrier",
      "PUT archive",
      "DELETE ",
      "GET json",
      "POST start",
      "GET json",
      "POST wait",
      "GET logs",
      "GET json",
      "GET archive",
      "GET json",
      "DELETE ",
    ]);
    expect(await readFile(join(folder, "alpha/foo_result/out.dat"), "utf8")).toBe("42");
    expect(await readFile(join(folder, "alpha/foo_result/sub/more.dat"), "utf8")).toBe("43");
    expect((await readdir(join(folder, "alpha/foo_result"))).sort()).toEqual(["out.dat", "sub"]);
    expect(docker.containers.size).toBe(0);
  });

  test("E10: after it was made the job has all that the engine says, and its configuration as it was given", async () => {
    const { data } = await run(engine, config({ Cmd: ["x"] }));
    expect(data[0]).toEqual({
      Container: {
        Id: expect.stringMatching(/^c/),
        Created: "now",
        State: { Status: "created", OOMKilled: false },
        Mounts: [expect.objectContaining({ Destination: "/data" })],
        Config: { Image: "img", Cmd: ["x"] },
      },
    });
  });

  test("E10: at each step, and at its end, the job has what the engine says then", async () => {
    // It runs until it was seen to run.
    let seen: () => void = () => undefined;
    const running = new Promise<void>((resolve) => (seen = resolve));
    docker.program = () => running.then(() => 0);
    const { steps, data } = await run(
      engine,
      { ...config(), States: [{ State: "QUEUED", Step: "", Date: "2026-11-16T13:00:00.000Z" }] },
      { onStep: (step) => step === "wait" && seen() },
    );
    const told = data.map(({ Container }) => (Container as { State: { Status: string } }).State.Status);
    expect([steps, told]).toEqual([
      ["create", "pull", "start", "wait", "push"],
      ["created", "created", "running", "exited", "exited"],
    ]);
    // The queue writes the States, a worker does not.
    expect(data.every((each) => !("States" in each))).toBe(true);
  });

  test("no job decides about privileges, mounts or networks of its container", async () => {
    docker.program = () => 0;
    let given: unknown = null;
    docker.program = () => {
      given = [...docker.containers.values()][0]!.config.HostConfig;
      return 0;
    };
    await run(engine, config());
    expect(given).toMatchObject({ Privileged: false, CapDrop: ["ALL"], NetworkMode: "none", Memory: 64 * 1024 * 1024 });
    const swap = { MemorySwap: 64 * 1024 * 1024, NanoCpus: 1_000_000_000, PidsLimit: 64 };
    expect(given).toMatchObject({ ...swap, LogConfig: { Config: { "max-size": "10m", "max-file": "1" } } });
    expect(given).not.toHaveProperty("Binds");
    const refused = await run(engine, { Container: { Config: { Image: "img", HostConfig: { Binds: ["/:/host"] } } } });
    expect(refused).toMatchObject({
      exit: 400,
      result: { Status: "FAILURE", Info: expect.stringContaining("HostConfig") },
    });
  });

  test("E18: an exit code that is not 0, a missing fileset, image or configuration is a FAILURE that says so", async () => {
    docker.program = () => 3;
    expect(await run(engine, config())).toMatchObject({
      exit: 400,
      result: { Status: "FAILURE", Info: "exit code 3" },
    });
    docker.program = () => 137;
    docker.outOfMemory = true;
    expect((await run(engine, config())).result.Info).toBe(
      "exit code 137: it needs more memory than CONTAINER_MEMORY_MB of this runner",
    );
    docker.outOfMemory = false;
    const noInput = await run(engine, { ...config(), Fileset: { Input: { Name: "nowhere" } } });
    expect(noInput.result).toEqual({ Status: "FAILURE", Info: "pull: there is no fileset nowhere" });
    const noImage = await run(engine, { Container: { Config: { Image: "missing" } } });
    expect(noImage.result).toMatchObject({ Status: "FAILURE", Info: expect.stringContaining("create: ") });
    expect((await run(engine, {})).result.Status).toBe("FAILURE");
    expect(docker.containers.size).toBe(0);
  });

  test("E17: no output, no push, still SUCCESS; an image that is not here is fetched", async () => {
    const ran = await run(engine, { Container: { Config: { Image: "elsewhere" } } });
    expect(ran.result.Status).toBe("SUCCESS");
    expect(docker.asked.slice(0, 2)).toEqual(["pull", "create"]);
    expect(docker.asked).not.toContain("GET archive");
  });

  test("one that takes too long, or whose job has become another's, is removed", async () => {
    docker.program = () => "never";
    expect(await run(engine, config(), { timeoutMs: 50 })).toMatchObject({ exit: 504 });
    const over = new AbortController();
    const running = run(engine, config(), { signal: over.signal });
    await waitFor(() => docker.asked.includes("POST wait"));
    over.abort();
    expect((await running).exit).toBe(0);
    expect(docker.containers.size).toBe(0);
  });

  test("E22: who learns at a step that the job is another's does nothing more for it, and pushes nothing", async () => {
    docker.program = (files) => {
      files.set("/data/out.dat", "late");
      return 0;
    };
    for (const lostAt of ["start", "push"]) {
      const over = new AbortController();
      const data = { ...config(), Fileset: { Output: { Name: "late" } } };
      const onStep = (step: string): void => {
        if (step === lostAt) over.abort();
      };
      const { steps, exit } = await run(engine, data, { signal: over.signal, onStep });
      expect([steps.at(-1), exit]).toEqual([lostAt, 0]);
    }
    expect(docker.asked.filter((what) => what === "POST start")).toHaveLength(1);
    expect(await readdir(join(folder, "alpha"))).not.toContain("late");
    expect(docker.containers.size).toBe(0);
  });

  test("an engine that is away is tried again, not blamed on the job", async () => {
    const away = openTestEngine("unix:///nowhere/docker.sock");
    expect(await run(away, config())).toMatchObject({ exit: 503 });
  });

  test("containers of a worker that was killed are swept, those of the living are not", async () => {
    for (const worker of ["dead", "alive"]) await engine.create(asked({ "sluice.job-runner": worker }));
    expect(await engine.sweep((worker) => worker === "dead")).toMatchObject({ containers: 1 });
    expect([...docker.containers.values()].map(({ config: { Labels } }) => Labels["sluice.job-runner"])).toEqual([
      "alive",
    ]);
    docker.containers.clear();
  });

  test("a runner that was killed and came again by its name removes what its first life left behind, not its own", async () => {
    docker.program = () => "never";
    await engine.create(asked({ "sluice.job-runner": "w1", "sluice.job-runner.instance": "i1" }));
    const over = new AbortController();
    const running = run(engine, config(), { signal: over.signal });
    await waitFor(() => docker.asked.includes("POST wait"));
    expect(await engine.sweep((worker, instance) => worker === "w1" && instance !== "i2")).toMatchObject({
      containers: 1,
    });
    expect([...docker.containers.values()].map(({ config: { Labels } }) => Labels)).toMatchObject([
      { "sluice.job-runner": "w1", "sluice.job-runner.instance": "i2", "sluice.job-runner.tenant": "alpha" },
    ]);
    over.abort();
    await running;
  });

  test("filesets behind HTTP are tar files", async () => {
    const kept = new Map<string, Buffer>();
    const server = await serveHttp((request, response) => {
      if (request.method === "PUT") kept.set(request.path, Buffer.from(request.body, "utf8"));
      const found = kept.get(request.path);
      if (found === undefined) response.writeHead(404).end();
      else response.end(found);
    });
    const filesets = openFilesets(server.url, egress);
    docker.program = (files) => {
      files.set("/data/again.dat", `${files.get("/data/out.dat") ?? "first"}+`);
      files.set("/data/out.dat", "x");
      return 0;
    };
    const Output = { Name: "s", Patterns: ["out.dat"] };
    await run(engine, { ...config(), Fileset: { Output } }, { filesets });
    expect([...kept.keys()]).toEqual(["/alpha/s.tar"]);
    let seen: string | undefined;
    docker.program = (files) => {
      seen = files.get("/data/out.dat");
      return 0;
    };
    await run(engine, { ...config(), Fileset: { Input: { Name: "s" } } }, { filesets });
    expect(seen).toBe("x");
    await server.close();
  });
});
