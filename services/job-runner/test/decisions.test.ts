import { expect, test } from "@jest/globals";
import { policyOf, refusalOf } from "@sluice/safe-io";
import { linesOf } from "../src/decide/job-lines.ts";
import { codeOfExit } from "@sluice/wire";
import { nextStep } from "../src/decide/next-step.ts";
import { endsOf } from "../src/decide/status-lines.ts";
import { matcherOf } from "../src/container/patterns.ts";
import { readSpec } from "../src/container/spec.ts";
import { type Box, commandOf } from "../src/sandbox/box.ts";
import { OutputReader } from "../src/sandbox/output.ts";
import { filesOf } from "../src/sandbox/open-node-runner.ts";
import { contextKey } from "../src/sandbox/pool.ts";
import { frameOf } from "../src/sandbox/protocol.ts";
import { openWayOut, refusal } from "../src/sandbox/way-out.ts";
import { ownPolicy } from "../src/own-policy.ts";
import { Handlers } from "../src/run/handlers.ts";
import type { FoundHandler } from "../src/run/queue.ts";
import { aHandler } from "./support/sandbox.ts";

const RULES = { maxAgeMs: 10_000, maxAttempts: null, delayMs: 1_500 };
const run = { ageMs: 0, attempts: 1, repeats: false };

test("M17: 1xx is retried, 2xx and 4xx are done, 5xx and what nobody knows are errors and retried", () => {
  expect([100, 199, 200, 299, 400, 499, 500, 599].map(codeOfExit)).toEqual([
    ...["retry", "retry", "ok", "ok", "failed", "failed", "error", "error"],
  ]);
  expect([0, 302, 600].map(codeOfExit)).toEqual(["error", "error", "error"]);
  expect(nextStep({ ...run, exit: 204 }, RULES)).toEqual({ kind: "finish", code: "ok" });
  expect(nextStep({ ...run, exit: 422 }, RULES)).toEqual({ kind: "finish", code: "failed" });
  expect(nextStep({ ...run, exit: 100 }, RULES)).toEqual({ kind: "retry", code: "retry", delaySeconds: 2 });
  expect(nextStep({ ...run, exit: 503 }, RULES)).toEqual({ kind: "retry", code: "error", delaySeconds: 2 });
});

test("M18: retries stop at an age or a count, and never for a job that repeats", () => {
  const old = { ...run, exit: 500, ageMs: 9_000 };
  expect(nextStep(old, RULES)).toEqual({ kind: "abandon", code: "error", why: "abandoned at the age of 9 s" });
  expect(nextStep({ ...old, ageMs: 8_500 }, RULES)).toMatchObject({ kind: "retry" });
  expect(nextStep({ ...old, repeats: true }, RULES)).toMatchObject({ kind: "retry" });
  const counted = { ...RULES, maxAttempts: 3 };
  expect(nextStep({ ...run, exit: 100, attempts: 2 }, counted)).toMatchObject({ kind: "retry" });
  expect(nextStep({ ...run, exit: 100, attempts: 3 }, counted)).toEqual({
    kind: "abandon",
    code: "retry",
    why: "abandoned after 3 attempts",
  });
});

test("M21: lines with J: ask for jobs of a type; nothing in them can name a tenant; all else is for the log", () => {
  const printed = [
    "J: next|a|b",
    "j: next|x",
    "J:next|x",
    "hello",
    "J: |x",
    "J: no-bar",
    "J: other/next|x",
    "J: t,x|y",
    " J: t|y",
  ];
  expect(linesOf(printed)).toEqual({ jobs: [{ type: "next", payload: "a|b" }], log: printed.slice(1) });
  expect(linesOf(["J: empty|"])).toEqual({ jobs: [{ type: "empty", payload: "" }], log: [] });
});

test("the answer to a batch: a line for each job; an invalid one spoils all that follow; none is NO_RESPONSE", () => {
  const missing = { exit: 500, result: "NO_RESPONSE" };
  const invalid = { exit: 500, result: "INVALID_RESPONSE" };
  expect(endsOf("200 ok then\r\n404\n100 later\n", 3)).toEqual([
    { exit: 200, result: "ok then" },
    { exit: 404, result: undefined },
    { exit: 100, result: "later" },
  ]);
  expect(endsOf("200\n<html>\n200\n", 3)).toEqual([{ exit: 200, result: undefined }, invalid, invalid]);
  expect(endsOf("200\n", 3)).toEqual([{ exit: 200, result: undefined }, missing, missing]);
  expect(endsOf("", 1)).toEqual([missing]);
  expect(endsOf("200 a\n200 b\n200 c\n", 1)).toEqual([{ exit: 200, result: "a" }]);
});

test("M21: lines with J: in the answer of an http handler are of the job whose end they come before, or of the last one", () => {
  expect(endsOf("J: a|1\nJ: a|2\n200 ok\n404\nJ: b|3\n100\nJ: b|4\n", 3)).toEqual([
    { exit: 200, result: "ok", lines: ["J: a|1", "J: a|2"] },
    { exit: 404, result: undefined },
    { exit: 100, result: undefined, lines: ["J: b|3", "J: b|4"] },
  ]);
  // Whose they are is not known: all of these jobs are tried again.
  const invalid = { exit: 500, result: "INVALID_RESPONSE" };
  expect(endsOf("200\nJ: a|1\nnonsense\n200\n", 2)).toEqual([{ exit: 200, result: undefined }, invalid]);
  expect(endsOf("J: a|1\n", 1)).toEqual([{ exit: 500, result: "NO_RESPONSE" }]);
});

test.each([
  [["*.py"], ["a.py"], ["a.pyc", "lib/a.py", "apy"]],
  [["bin/*"], ["bin/x", "bin/x.y"], ["bin/a/b", "bin", "sbin/x"]],
  [["**/*.dat"], ["a.dat", "x/y/a.dat"], ["a.data", "x/dat"]],
  [
    ["a?.txt", "c"],
    ["ab.txt", "c"],
    ["a/.txt", "abc.txt"],
  ],
  [undefined, ["anything", "at/all"], []],
  [["(a|b)+.[x]"], ["(a|b)+.[x]"], ["a.x"]],
] as const)("E16: %j", (patterns, matching, others) => {
  const matches = matcherOf(patterns);
  expect(matching.filter((name) => !matches(name))).toEqual([]);
  expect(others.filter((name) => matches(name))).toEqual([]);
});

test("E16: patterns that would keep a regular expression busy for hours are answered", () => {
  const name = `${"a/".repeat(100)}${"a".repeat(200)}c`;
  for (const pattern of [`${"*a".repeat(50)}b`, `${"**/".repeat(50)}b`, `${"**a".repeat(50)}b`])
    expect(matcherOf([pattern])(name)).toBe(false);
  expect(matcherOf([`${"**/".repeat(50)}${"*a".repeat(50)}*c`])(name)).toBe(true);
});

test("E16: what a pattern says of folders", () => {
  const matching = (pattern: string): readonly string[] =>
    ["x", "a/x", "a/b/x", "/x", "a//x", "a/", ""].filter(matcherOf([pattern]));
  expect(matching("**/x")).toEqual(["x", "a/x", "a/b/x"]);
  expect(matching("**x")).toEqual(["x", "a/x", "a/b/x", "/x", "a//x"]);
  expect(matching("*/x")).toEqual(["a/x", "/x"]);
  expect(matching("a/**")).toEqual(["a/x", "a/b/x", "a//x", "a/"]);
});

test.each([
  ["HostConfig", { HostConfig: { Privileged: true } }],
  ["HostConfig", { HostConfig: { Binds: ["/:/host"] } }],
  ["Volumes", { Volumes: { "/x": {} } }],
  ["NetworkDisabled", { NetworkDisabled: false }],
  ["WorkingDir", { WorkingDir: "/a/../../b" }],
])("a container's configuration may not say %s", (field, more) => {
  const read = readSpec({ Container: { Config: { Image: "x", ...more } } });
  expect(read).toMatchObject({ ok: false, why: expect.stringContaining(field) });
});

test("a container's configuration as a text, and filesets of plain names alone", () => {
  expect(readSpec({ Container: { Config: '{"Image":"x"}' } })).toEqual({
    ok: true,
    spec: { config: { Image: "x" }, input: null, output: null },
  });
  expect(readSpec({ Container: { Config: { Image: "x" } }, Fileset: { Input: { Name: "../other" } } }).ok).toBe(false);
});

test("M23: no two tenants share a context; one tenant's types do if they say so and may reach the same", () => {
  const base = aHandler("x", { tenant: "a", type: "t", version: 1 });
  const key = contextKey(base);
  expect(contextKey({ ...base, tenant: "b" })).not.toBe(key);
  expect(contextKey({ ...base, version: 2 })).not.toBe(key);
  expect(contextKey({ ...base, eid: "e", type: "t" })).toBe(contextKey({ ...base, eid: "e", type: "u" }));
  expect(contextKey({ ...base, eid: "e", tenant: "b" })).not.toBe(contextKey({ ...base, eid: "e" }));
  expect(contextKey({ ...base, eid: "e", allow: { network: ["h:1"] } })).not.toBe(contextKey({ ...base, eid: "e" }));
});

test("declared files stay in the tenant's own folder", () => {
  const files = ["data/a.txt", "../b/secret", "/etc/passwd", "x/../../y", ".", "a=b", "..", "ok"];
  expect(filesOf({ tenant: "a", allow: { files } }, "/srv").map(({ source }) => source)).toEqual([
    "/srv/a/data/a.txt",
    "/srv/a/ok",
  ]);
  expect(filesOf({ tenant: "a", allow: { files } }, null)).toEqual([]);
});

test("a way out leads to declared places alone", () => {
  const allowed = ["api.example.org:443"];
  expect(refusal("https://api.example.org/x", allowed)).toBeNull();
  for (const url of [
    "http://api.example.org/",
    "https://api.example.org:8443/",
    "https://evil.org/?api.example.org:443",
    "https://api.example.org.evil.org/",
    "gopher://api.example.org:443/",
    "nonsense",
  ])
    expect(refusal(url, allowed)).not.toBeNull();
});

test("who asks and does not read the answers is cut off before they fill our memory", async () => {
  let say: (chunk: Buffer) => void = () => undefined;
  const seen = { isCut: false, written: 0 };
  const line = {
    on: (_: "data", listener: (chunk: Buffer) => void) => void (say = listener),
    // Nobody reads: nothing is ever written out.
    write: () => void (seen.written += 1),
    destroy: () => void (seen.isCut = true),
  };
  const none = () => Promise.reject(new Error("not to be asked"));
  const egress = { get: none, head: none, post: none };
  openWayOut(line, { egress, allowed: [], signal: new AbortController().signal });
  for (let n = 0; n < 100 && !seen.isCut; n += 1) {
    say(frameOf({ n, url: "http://a.example/", method: "GET", headers: {}, body: null }));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(seen).toEqual({ isCut: true, written: 16 });
});

test("code of tenants ends with its runner, whoever that is and whatever walls there are", () => {
  const box: Box = {
    root: "/r",
    harness: "/h",
    programs: "/p",
    frames: "/f",
    node: "/node",
    permissionFlag: null,
    uid: null,
    setpriv: "/setpriv",
    tools: null,
  };
  const inside = { memoryMb: 64, files: [], run: ["/h"] };
  for (const uid of [null, 65_534]) {
    const { command, args } = commandOf({ ...box, uid }, inside);
    expect([command, ...args].join(" ")).toMatch(/^\/setpriv .*--no-new-privs --pdeathsig KILL \/node /);
  }
  expect(commandOf({ ...box, setpriv: null }, inside).command).toBe("/node");
});

test("where filesets and the hook are, the fleet may go and tenants may not", () => {
  const settings = { ALLOW_LOOPBACK: false, EGRESS_ALLOW: [{ cidr: "10.9.0.0/16" }], EGRESS_PORTS: [443] };
  const places = { FILESET_URL: "http://files.internal:9000/sets", DEAD_WORKER_HOOK: "https://10.1.2.3/dead" };
  const files = { address: "10.1.0.1", port: 9_000, host: "files.internal" };
  const hook = { address: "10.1.2.3", port: 443, host: "10.1.2.3" };
  const own = ownPolicy({ ...settings, ...places });
  const whether = (policy: Parameters<typeof refusalOf>[1]) =>
    [files, hook, { ...files, port: 80 }, { ...hook, address: "10.9.0.1", host: "x" }].map(
      (place) => refusalOf(place, policy) === undefined,
    );
  expect(whether(own)).toEqual([true, true, false, true]);
  expect(whether(policyOf(settings))).toEqual([false, false, false, true]);
  expect(ownPolicy({ ...settings, FILESET_URL: "./data/filesets", DEAD_WORKER_HOOK: undefined })).toEqual(
    policyOf(settings),
  );
});

test("a handler is asked for again after a moment, and at once when there was none", async () => {
  const [now, handler] = [{ ms: 0 }, aHandler("return 1")];
  const answers: FoundHandler[] = [
    { kind: "none", why: "404" },
    { kind: "found", handler },
    { kind: "none", why: "" },
  ];
  const handlers = new Handlers({ handler: () => Promise.resolve(answers.shift()!) }, () => now.ms);
  const kinds: string[] = [];
  for (const ms of [0, 1, 1_000, 2_500]) {
    now.ms = ms;
    kinds.push((await handlers.of("acme", "greet")).kind);
  }
  expect(kinds).toEqual(["none", "found", "found", "none"]);
});

test("lines that come in pieces keep their bytes, wherever they are cut", () => {
  const line = 'J: größe|{"name":"Ångström 雪 🐟"}';
  const bytes = Buffer.from(`${line}\nMARK\n`);
  for (let cut = 1; cut < bytes.length; cut++) {
    const reader = new OutputReader({ bytes: 1_000, lines: 10, lineBytes: 1_000 }, () => undefined);
    reader.begin("MARK");
    for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) reader.push(part);
    expect(reader.taken().lines).toEqual([line]);
  }
  const one = new OutputReader({ bytes: 1_000, lines: 10, lineBytes: 1_000 }, () => undefined);
  one.begin("MARK");
  for (const byte of bytes) one.push(Buffer.from([byte]));
  expect(one.taken().lines).toEqual([line]);
});

test("a line is cut where its bound is, in however many pieces it comes", () => {
  for (const size of [1, 3, 10, 1_000]) {
    const reader = new OutputReader({ bytes: 1_000, lines: 10, lineBytes: 10 }, () => undefined);
    reader.begin("MARK");
    const bytes = Buffer.from(`${"x".repeat(25)}\nshort\n0123456789\nMARK\n`);
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    expect(reader.taken().lines).toEqual(["x".repeat(10), "short", "0123456789"]);
  }
});
