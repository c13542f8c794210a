import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findDockerEngine, runCommand, skipUnless, startDockerEngine } from "@sluice/local-parts";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../src/container/engine.ts";
import { folder, LIMITS, MIB, openTestEngine, putFiles, run, tidyUp } from "./support/container-run.ts";

afterAll(tidyUp);

const present = await findDockerEngine();
const real = "skip" in present && process.env["SLUICE_OWN_DOCKER"] === "1" ? await startDockerEngine() : present;

const soon = (wake: () => void): (() => void) => {
  const turn = setImmediate(wake);
  return () => clearImmediate(turn);
};

skipUnless(describe, real, { optional: true })("with a real Docker engine", () => {
  const host = "host" in real ? real.host : "";
  const IMAGE = "sluice-test-shell:1";
  let engine: Engine;
  const docker = (...args: string[]) => runCommand("docker", ["-H", host, ...args]);

  /** A shell and what it is linked with: nothing can be fetched here. */
  beforeAll(async () => {
    engine = openTestEngine(host);
    const linked = await runCommand("ldd", ["/bin/sh"]);
    const libraries = [...linked.output.matchAll(/\/\S+(?= \(0x)/g)].map(([path]) => path);
    const tar = join(folder, "image.tar");
    await runCommand("tar", ["-chf", tar, "-C", "/", "bin/sh", ...libraries.map((path) => path.slice(1))]);
    await docker("import", tar, IMAGE);
  });
  afterAll(async () => {
    await docker("rmi", "-f", IMAGE);
    if ("host" in real) await real.stop();
  });

  test("E14, E16, E17, E18: a container reads its input, writes its output and ends with a code", async () => {
    await putFiles("numbers", { "in.txt": "20", "other.md": "no" });
    const script = 'read n < in.txt; echo $((n + 22)) > out.dat; [ ! -e other.md ] && exit "$1"';
    const ran = (code: string) =>
      run(engine, {
        Container: { Config: { Image: IMAGE, Cmd: ["/bin/sh", "-c", script, "sh", code] } },
        Fileset: { Input: { Name: "numbers", Patterns: ["*.txt"] }, Output: { Name: "sums", Patterns: ["*.dat"] } },
      });
    const good = await ran("0");
    expect(good.result).toEqual({ Status: "SUCCESS", Info: "exit code 0" });
    expect(good.data[0]!["Container"]).toMatchObject({
      Id: expect.stringMatching(/^[0-9a-f]{64}$/),
      Config: { Image: IMAGE },
    });
    expect(await readFile(join(folder, "alpha/sums/out.dat"), "utf8")).toBe("42\n");
    expect((await ran("7")).result).toEqual({ Status: "FAILURE", Info: "exit code 7" });
    const left = await docker("ps", "-aq", "--filter", "label=sluice.job-runner");
    expect(left.output.trim()).toBe("");
  });

  const written = async (set: string, script: string, more: object = {}): Promise<string> => {
    const ran = await run(engine, {
      Container: { Config: { Image: IMAGE, Cmd: ["/bin/sh", "-c", script], ...more } },
      Fileset: { Output: { Name: set, Patterns: ["*.dat"] } },
    });
    expect(ran.result).toEqual({ Status: "SUCCESS", Info: "exit code 0" });
    return (await readFile(join(folder, "alpha", set, "out.dat"), "utf8")).trim();
  };
  /** A shell without other programs. */
  const STATUS =
    "while read -r name rest; do case $name in Uid:|Gid:|CapBnd:|NoNewPrivs:|Seccomp:) echo $name $rest;; esac; done < /proc/self/status";

  test("it runs as nobody, without capabilities, new privileges or calls that seccomp forbids", async () => {
    expect((await written("who", `(${STATUS}) > out.dat`)).split("\n")).toEqual([
      "Uid: 65534 65534 65534 65534",
      "Gid: 65534 65534 65534 65534",
      "CapBnd: 0000000000000000",
      "NoNewPrivs: 1",
      "Seccomp: 2",
    ]);
    expect(await written("other", `(${STATUS}) > out.dat`, { User: "1234:77" })).toContain("Gid: 77 77 77 77");
  });

  test("it writes into its working folder and /tmp, and nowhere else; both have an end", async () => {
    await putFiles("deep", { "sub/in.txt": "x" });
    const tries = ["/x", "/bin/x", "/tmp/x", "x", "/dev/shm/x"].map(
      (path) => `(echo y > ${path}) 2>/dev/null && echo ${path}`,
    );
    expect((await written("where", `(${tries.join("; ")}; true) > out.dat`)).split("\n")).toEqual([
      "/tmp/x",
      "x",
      "/dev/shm/x",
    ]);
    // The shell has no program that writes much: it doubles a text, 12 MiB of it against 8.
    const full =
      'a=0123456789abcdef; i=0; while [ $i -lt 16 ]; do a=$a$a; i=$((i+1)); done; for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "$a" >> /tmp/full || echo full > out.dat; done 2>/dev/null; true';
    expect(await written("tmp", full)).toBe("full");
    const folders = await run(engine, {
      Container: { Config: { Image: IMAGE, Cmd: ["/bin/sh", "-c", "echo z > sub/out.dat"] } },
      Fileset: { Input: { Name: "deep" }, Output: { Name: "deep-out" } },
    });
    expect(folders.result.Status).toBe("SUCCESS");
  });

  test("one that writes more than it may is ended while it runs", async () => {
    const script =
      'a=0123456789abcdef; i=0; while [ $i -lt 16 ]; do a=$a$a; i=$((i+1)); done; for n in 1 2 3; do echo "$a" > f$n; done';
    const ran = await run(
      engine,
      { Container: { Config: { Image: IMAGE, Cmd: ["/bin/sh", "-c", `${script}; while :; do :; done`] } } },
      // Looked at again at once: nothing else is waited for here.
      { diskBytes: 2 * MIB, later: (ms, wake) => (ms > 10_000 ? () => undefined : soon(wake)) },
    );
    expect(ran).toMatchObject({ exit: 413, result: { Info: expect.stringContaining("CONTAINER_DISK_MB") } });
    expect((await docker("volume", "ls", "-q")).output.trim()).toBe("");
  });

  test("it is held to the limits that the engine says it has", async () => {
    const limits = await engine.limits();
    expect(limits.seccomp).toBe(true);
    // Of the first and the second version of control groups.
    const files = ["memory/memory.limit_in_bytes", "memory.max", "pids/pids.max", "pids.max"].map(
      (file) => `/sys/fs/cgroup/${file}`,
    );
    const read = `for f in ${files.join(" ")}; do [ -r $f ] && read -r x < $f && echo "\${f##*/} $x"; done > out.dat; true`;
    const seen = await written("limits", read);
    if (limits.memory)
      expect(seen).toMatch(new RegExp(`^memory\\.(?:limit_in_bytes|max) ${LIMITS.memoryMb * MIB}$`, "m"));
    if (limits.pids) expect(seen).toMatch(new RegExp(`^pids\\.max ${LIMITS.pids}$`, "m"));
    expect(Object.keys(limits).sort()).toEqual(["cpus", "memory", "pids", "seccomp", "swap"]);
  });

  test("one that needs more memory than it may have is told so", async () => {
    const script = "a=0123456789abcdef; while :; do a=$a$a; done";
    const ran = await run(engine, { Container: { Config: { Image: IMAGE, Cmd: ["/bin/sh", "-c", script] } } });
    if ((await engine.limits()).memory) expect(ran.result.Info).toMatch(/^exit code \d+: it needs more memory/);
  });

  test("a container has no network and no privileges", async () => {
    const script =
      'while read -r name rest; do case $name in CapEff:) caps=$rest;; esac; done < /proc/self/status; for i in /sys/class/net/*; do nets="$nets ${i##*/}"; done; echo "$caps$nets" > out.dat';
    await run(engine, {
      Container: { Config: { Image: IMAGE, Cmd: ["/bin/sh", "-c", script] } },
      Fileset: { Output: { Name: "caps", Patterns: ["*.dat"] } },
    });
    expect((await readFile(join(folder, "alpha/caps/out.dat"), "utf8")).trim()).toBe("0000000000000000 lo");
  });
});
