import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { skipUnless } from "@sluice/local-parts";
import { serveHttp, testZooKeeper, waitFor, type HttpServer } from "@sluice/testkit";
import { readdir, readFile, rmdir } from "node:fs/promises";
import { findWalls, type Standing } from "../src/sandbox/walls.ts";
import { aHandler, openSandbox, type Sandbox } from "./support/sandbox.ts";

const standing = await findWalls({ uid: 65_534, namespaces: true });
const walled = standing.walls.namespaces ? {} : { skip: `walls are missing: ${standing.missing}` };

/** Each attack is tried behind all walls that the machine has, and behind those that every machine has. */
const KINDS: readonly (readonly [string, Standing])[] = [
  ["behind all walls", standing],
  ["without namespaces", await findWalls({ uid: 65_534, namespaces: false })],
];

const tried = (code: string): string =>
  `try { return await (async () => { ${code} })() } catch (e) { return "refused: " + (e.code ?? e.message) }`;

describe.each(KINDS)("%s", (_, kind) => {
  let box: Sandbox;
  let server: HttpServer;
  let asked = 0;
  beforeAll(async () => {
    box = openSandbox(kind);
    server = await serveHttp((_request, response) => {
      asked += 1;
      response.end("fleet secret");
    });
  });
  afterAll(async () => {
    await box.runner.close();
    await server.close();
  });
  /** One handler that does what its payload says: most attacks share its context. */
  const obedient = aHandler(
    "const Run = Object.getPrototypeOf(async () => 0).constructor; return new Run('require', 'job', payload)(require, job)",
    { timeoutMs: 15_000 },
  );
  const result = async (code: string): Promise<string> => {
    const [end] = await box.run(obedient, [code]);
    return `${end!.exit} ${end!.result ?? ""}`;
  };

  test("a handler gets its payload and returns exit codes and results", async () => {
    const ends = await box.run(
      aHandler(
        "if (payload === 'n') return 404; if (payload === 'o') return { exit: 150, result: { a: 1 } }; if (payload === 't') throw new Error('no'); return payload.toUpperCase()",
      ),
      ["x", "n", "o", "t"],
    );
    expect(ends).toEqual([
      { exit: 200, result: "X", lines: [] },
      { exit: 404, result: undefined, lines: [] },
      { exit: 150, result: '{"a":1}', lines: [] },
      { exit: 500, result: "no", lines: [] },
    ]);
  });

  test.each(["/etc/passwd", "/proc/self/environ", "/proc/1/environ", process.cwd() + "/package.json", "/etc"])(
    "cannot read %s",
    async (path) => {
      const read = `const fs = require("fs"); return fs.statSync(${JSON.stringify(path)}).isDirectory() ? fs.readdirSync(${JSON.stringify(path)}) : fs.readFileSync(${JSON.stringify(path)}, "utf8")`;
      expect(await result(tried(read))).toMatch(/^200 refused: (ERR_ACCESS_DENIED|ENOENT)$/);
    },
  );

  test("cannot write outside its scratch folder", async () => {
    expect(await result(tried(`require("fs").writeFileSync("/etc/evil", "x"); return "written"`))).toMatch(
      /^200 refused/,
    );
    expect(
      await result(
        tried(
          `require("fs").symlinkSync("/etc/passwd", "/tmp/link"); return require("fs").readFileSync("/tmp/link", "utf8")`,
        ),
      ),
    ).toMatch(/^200 refused/);
  });

  test("cannot import by a word of its own body", async () => {
    const [end] = await box.run(aHandler(tried(`return typeof (await import("node:net"))`)));
    expect(end!.result).toMatch(/^refused/);
  });

  test("has no environment", async () => {
    expect(await result("return Object.keys(process.env)")).toBe("200 []");
  });

  test.each(["net", "http", "dgram", "dns", "child_process", "worker_threads", "cluster", "inspector", "module", "vm"])(
    "cannot have the module %s by require, import or the process",
    async (name) => {
      expect(await result(tried(`return typeof require("${name}")`))).toMatch(/^200 refused: .*not available/);
      expect(await result(tried(`return typeof (await import("node:${name}"))`))).toMatch(/^200 refused/);
      expect(await result(tried(`return typeof (await new Function("return import('node:${name}')")())`))).toMatch(
        /^200 refused/,
      );
      expect(await result(tried(`return typeof process.getBuiltinModule("${name}")`))).toMatch(/^200 refused/);
      expect(await result(tried(`return typeof process.binding("tcp_wrap")`))).toMatch(/^200 refused/);
      expect(await result(tried(`return typeof process.mainModule.require("${name}")`))).toMatch(/^200 refused/);
      expect(await result(tried(`return typeof fetch`))).toBe("200 undefined");
    },
  );

  test("cannot ask a host that its handler does not declare, and can ask one that it does", async () => {
    const { host } = new URL(server.url);
    const ask = `return (await request(payload)).body`;
    const [none] = await box.run(aHandler(tried(ask)), [server.url]);
    expect(none!.result).toMatch(/^refused: this handler declares no network/);
    const declared = aHandler(tried(ask), { allow: { network: [host] } });
    const [good, other, zk] = await box.run(declared, [server.url, "http://127.0.0.1:1/", "file:///etc/passwd"]);
    expect([good!.result, other!.result, zk!.result]).toEqual([
      "fleet secret",
      "refused: 127.0.0.1:1 is not declared by this handler",
      "refused: file: is not http or https",
    ]);
    expect(asked).toBe(1);
  });

  test("an endless loop is ended, and the other jobs of its batch have their ends", async () => {
    const loop = aHandler("if (payload === 'loop') for (;;); return payload", { timeoutMs: 1_500 });
    const ends = await box.run(loop, ["a", "loop", "b"]);
    expect(ends.map(({ exit }) => exit)).toEqual([200, 504, 200]);
    expect(ends[1]!.result).toMatch(/^timeout: /);
  });

  test("what runs before and after jobs has no more of the processor than a job", async () => {
    const small = openSandbox(kind, { cpuMs: 1_000, timeoutMs: 600_000 });
    const loop = "for (;;);";
    for (const more of [{ before: loop }, { beforeEach: loop }]) {
      const [end] = await small.run(aHandler("return 200", more));
      expect(end).toMatchObject({ exit: 500, result: expect.stringMatching(/^cpu: /) });
    }
    expect(await small.run(aHandler("return 200", { afterEach: loop }))).toMatchObject([{ exit: 200 }]);
    await small.runner.close();
  });

  test("a handler that cannot begin says so in words that fit", async () => {
    const [end] = await box.run(aHandler("return 200", { before: "throw new Error('x'.repeat(2e7))" }));
    expect([end!.exit, end!.result!.length]).toEqual([500, 10_000]);
  });

  test("the line to the runner does not lead to others like it", async () => {
    const code = "return [typeof process._getActiveHandles, typeof process._getActiveRequests].join()";
    const [end] = await box.run(aHandler(code, { allow: { network: ["a.example:443"] } }));
    expect(end!.result).toBe("undefined,undefined");
  });

  test("whoever takes more memory than allowed dies alone", async () => {
    const hogs = aHandler(
      "const kept = []; for (;;) kept.push(payload === 'heap' ? new Array(1e5).fill({}).map((_, i) => ({ i })) : Buffer.alloc(2e7, 1))",
    );
    const before = process.memoryUsage().rss;
    const [heap] = await box.run(hogs, ["heap"]);
    expect(heap).toMatchObject({ exit: 500, result: expect.stringContaining("crash") });
    expect(process.memoryUsage().rss - before).toBeLessThan(500e6);
  });

  test("a flood of output ends its context, not the runner", async () => {
    const [flood] = await box.run(aHandler("for (;;) console.log('x'.repeat(100000))"));
    expect(flood).toMatchObject({ exit: 507, result: "flood: printed too much" });
    const [errors] = await box.run(aHandler("for (;;) console.error('x'.repeat(100000))"));
    expect(errors).toMatchObject({ exit: 507 });
  });

  test("process.exit, abort and a kill of everything in sight end nothing but itself", async () => {
    for (const code of ["process.exit(0)", "process.abort()", "process.reallyExit(0)"])
      expect(await result(code)).toMatch(/^500 crash/);
    await result(`process.kill(process.pid, "SIGKILL"); return 200`);
    await result(`try { process.kill(${process.pid}, "SIGKILL") } catch {} ; return 200`);
    await result(`try { process.kill(process.ppid || -1, "SIGKILL") } catch {} ; return 200`);
    expect(await result("return 'still here'")).toBe("200 still here");
  });

  test("words on the channel that were not asked for end the context; none of them ends another job", async () => {
    const forge = `
      const fs = require("fs");
      const body = Buffer.from(JSON.stringify({ kind: "ended", job: job.id + 1, exit: 200, result: "forged", leftovers: false }));
      const head = Buffer.alloc(4); head.writeUInt32BE(body.length);
      if (payload === "forge") fs.writeSync(3, Buffer.concat([head, body]));
      return "honest"`;
    const ends = await box.run(aHandler(forge), ["forge", "next"]);
    expect(ends[0]).toMatchObject({ exit: 500, result: expect.stringContaining("nonsense") });
    expect(ends[1]).toMatchObject({ exit: 200, result: "honest" });
    const garbage = await box.run(
      aHandler(`require("fs").writeSync(3, Buffer.alloc(64, 255)); await new Promise(() => {})`, { timeoutMs: 15_000 }),
    );
    expect(garbage[0]).toMatchObject({ exit: 500, result: expect.stringContaining("nonsense") });
  });

  test("changed prototypes and builtins of the language do not reach the runner or the next context", async () => {
    const evil = `
      Object.prototype.exit = 200; Object.prototype.job = 1; Array.prototype.push = () => 0;
      JSON.parse = () => ({ kind: "job" }); JSON.stringify = () => "{}"; Map.prototype.get = () => undefined;
      Buffer.prototype.toString = () => "evil"; Promise.prototype.then = Promise.prototype.then;
      return "mine"`;
    const [end] = await box.run(aHandler(evil));
    expect(end!.exit).toBe(200);
    expect(({} as Record<string, unknown>)["exit"]).toBeUndefined();
    expect(await result("return typeof ({}).exit")).toBe("200 undefined");
  });

  test("timers that a job left behind do not act during the next one", async () => {
    const late = aHandler(`
      if (payload === "leave") { setInterval(() => console.log("J: evil|x"), 1); setTimeout(() => process.exit(1), 5).unref(); return 200; }
      const { setTimeout: wait } = require("timers"); await new Promise((done) => wait(done, 200)); return "undisturbed"`);
    const ends = await box.run(late, ["leave", "after"]);
    expect(ends).toEqual([
      { exit: 200, result: undefined, lines: [] },
      { exit: 200, result: "undisturbed", lines: [] },
    ]);
  });
});

skipUnless(describe, walled)("what only namespaces give", () => {
  let box: Sandbox;
  beforeAll(() => void (box = openSandbox(standing)));
  afterAll(() => box.runner.close());

  /** Code that found a hole in the language's own rules: what it would see of the system then. */
  const raw = { ...standing, box: { ...standing.box, permissionFlag: null } };

  test("code that has escaped every rule of the language still finds no file, process or host", async () => {
    const zk = await testZooKeeper();
    const [host, port] = zk.connect.split("/")[0]!.split(":");
    const escaped = openSandbox({
      ...raw,
      box: { ...raw.box, harness: new URL("./support/loose-harness.cjs", import.meta.url).pathname },
    });
    const [end] = await escaped.run(aHandler("x"), [JSON.stringify({ host, port: Number(port), pid: process.pid })]);
    await escaped.runner.close();
    expect(JSON.parse(end!.result ?? "")).toEqual({
      root: expect.not.arrayContaining(["etc", "home", "root", "work", "proc", "var"]),
      passwd: "ENOENT",
      environment: [],
      zookeeper: "ENETUNREACH",
      kill: "ESRCH",
      spawn: "ENOENT",
      pid: 1,
      write: "EROFS",
    });
  });

  test("memory outside the heap is bounded too", async () => {
    const [end] = await box.run(
      aHandler("const kept = []; for (let i = 0; i < 100; i++) kept.push(Buffer.alloc(2e7, 1)); return 'had 2 GB'"),
    );
    expect(end).toMatchObject({ exit: 500 });
  });

  test("nothing is left of a context that was ended", async () => {
    await box.run(aHandler("return 200"));
    await box.runner.close();
    await waitFor(
      async () => !(await commands()).some((line) => line.includes("/harness.cjs") && line.includes(standing.box.root)),
    );
    expect(box.contexts()).toBe(0);
  });
});

afterAll(async () => {
  for (const [, { box }] of KINDS) await rmdir(box.root);
});

async function commands(): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
}
