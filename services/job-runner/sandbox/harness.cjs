/*
 * Runs inside the walls, in one process with code that nobody trusts. It is a convenience for that code, never a wall: what it
 * says is checked by the runner outside, which believes only that a job of this very context has ended.
 *
 * What is needed of the language is taken hold of before any strange code runs, for that code may change everything that can
 * be reached from it.
 */
"use strict";
const vm = require("node:vm");
const timers = require("node:timers");
const { readFrame, writeAll, framed, leave, say, printMark } = require("./frames.cjs");

const PROXY = 4;
const { parse, stringify } = JSON;
const { apply } = Reflect;
const { alloc } = Buffer;
const { toString: textOf, readUInt32BE, subarray } = Buffer.prototype;
const { isInteger } = Number;
const compile = vm.compileFunction;
const active = process.getActiveResourcesInfo;
const proc = process;
const MapOf = Map;
const { get: mapGet, set: mapSet, delete: mapDelete } = Map.prototype;
const SetOf = Set;
const { add: setAdd, delete: setDelete, forEach: setEach, clear: setClear } = Set.prototype;
const PromiseOf = Promise;
const ErrorOf = Error;

/* What is printed is out before the next line of code runs: nothing piles up in here, and nothing comes after its job's mark. */
const { Writable } = require("node:stream");
const printing = (descriptor) =>
  new Writable({
    write(chunk, _encoding, done) {
      writeAll(descriptor, chunk);
      done();
    },
  });
const printed = { stdout: printing(1), stderr: printing(2) };
for (const name of ["stdout", "stderr"]) Object.defineProperty(process, name, { value: printed[name] });
globalThis.console = new console.Console(printed.stdout, printed.stderr);

/* Timers that a job left behind are ended with it. */
const pending = new SetOf();
const real = { ...timers };
const tracked = (make) =>
  function (...args) {
    const timer = make(...args);
    apply(setAdd, pending, [timer]);
    return timer;
  };
const ownTimers = {
  ...timers,
  setTimeout: tracked(real.setTimeout),
  setInterval: tracked(real.setInterval),
  setImmediate: tracked(real.setImmediate),
};
delete ownTimers.promises;
for (const name of ["setTimeout", "setInterval", "setImmediate"]) globalThis[name] = ownTimers[name];

function endTimers() {
  apply(setEach, pending, [
    (timer) => {
      real.clearTimeout(timer);
      real.clearImmediate(timer);
    },
  ]);
  apply(setClear, pending, []);
}

/* The way out that a handler may have declared: a request that the runner makes, if it likes the address. */
const asked = new MapOf();
let questions = 0;
let answers = null;

function openProxy() {
  const net = require("node:net");
  const socket = new net.Socket({ fd: PROXY, readable: true, writable: true });
  socket.unref();
  let held = alloc(0);
  socket.on("data", (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4) {
      const length = apply(readUInt32BE, held, [0]);
      if (held.length < 4 + length) return;
      const answer = parse(apply(textOf, held, ["utf8", 4, 4 + length]));
      held = apply(subarray, held, [4 + length]);
      const settle = apply(mapGet, asked, [answer.n]);
      apply(mapDelete, asked, [answer.n]);
      if (asked.size === 0) socket.unref();
      if (settle !== undefined) settle(answer);
    }
  });
  answers = socket;
}

function request(url, { method = "GET", headers = {}, body } = {}) {
  if (answers === null) return PromiseOf.reject(new ErrorOf("this handler declares no network"));
  questions += 1;
  const n = questions;
  return new PromiseOf((resolve, reject) => {
    apply(mapSet, asked, [
      n,
      (answer) => (answer.error === undefined ? resolve(answer) : reject(new ErrorOf(answer.error))),
    ]);
    answers.ref();
    answers.write(
      framed({ n, url: `${url}`, method: `${method}`, headers, body: body === undefined ? null : `${body}` }),
    );
  });
}

const MODULES = [
  ...["assert", "buffer", "crypto", "events", "fs", "fs/promises", "path", "querystring", "stream", "stream/promises"],
  ...["string_decoder", "url", "util", "zlib"],
];
const modules = new MapOf(MODULES.map((name) => [name, require(`node:${name}`)]));
modules.set("timers", ownTimers);

function requireOf(name) {
  const found = apply(mapGet, modules, [`${name}`.replace(/^node:/, "")]);
  if (found === undefined) throw new ErrorOf(`${name} is not available to handlers`);
  return found;
}

/* A belt beside the walls: what leads to the network or to other programs is not lying about. */
const HIDDEN = [
  ...["binding", "_linkedBinding", "getBuiltinModule", "dlopen", "mainModule", "_debugProcess", "send"],
  // The line to the runner is a socket, and its maker makes others.
  ...["_getActiveHandles", "_getActiveRequests"],
];
for (const name of HIDDEN)
  Object.defineProperty(process, name, { value: undefined, configurable: false, writable: false });
for (const name of ["fetch", "WebSocket", "EventSource", "Request", "Response"]) delete globalThis[name];

const handlers = new MapOf();
const PARAMETERS = ["payload", "job", "context", "require", "request"];

function scriptOf(code, name) {
  if (code === undefined) return null;
  // A dynamic import has no importer here, and so none can be made.
  return compile(`return (async () => {${code}\n})()`, PARAMETERS, { filename: name });
}

const textOfError = (error) => {
  try {
    return `${error instanceof ErrorOf ? error.message : error}`;
  } catch {
    return "an error that cannot be told";
  }
};

async function load({ id, before, beforeEach, body, afterEach }) {
  const context = {};
  const handler = {
    context,
    beforeEach: scriptOf(beforeEach, "beforeEach"),
    body: scriptOf(body, "body"),
    afterEach: scriptOf(afterEach, "afterEach"),
  };
  await scriptOf(before, "before")?.(undefined, undefined, context, requireOf, request);
  apply(mapSet, handlers, [id, handler]);
}

/* A number is an exit code; an object with a numeric `exit` is both; whatever else is the result of a success. */
function endOf(value) {
  if (isInteger(value) && value >= 100 && value <= 599) return { exit: value };
  if (typeof value === "object" && value !== null && isInteger(value.exit))
    return { exit: value.exit, ...resultOf(value.result) };
  return { exit: 200, ...resultOf(value) };
}

function resultOf(value) {
  if (value === undefined || value === null) return {};
  const result = typeof value === "string" ? value : stringify(value);
  return typeof result === "string" ? { result } : {};
}

async function runJob({ handler: id, job, payload }) {
  const { body, context } = apply(mapGet, handlers, [id]);
  try {
    return endOf(await body(payload, job, context, requireOf, request));
  } catch (error) {
    return { exit: 500, result: textOfError(error) };
  }
}

/* What the harness itself keeps open. */
let own = 0;
const openNow = () => apply(active, proc, []).length;

async function answerTo(frame) {
  switch (frame.kind) {
    case "load":
      await load(frame.handler);
      return { kind: "done" };
    case "begin":
    case "end": {
      const { context, beforeEach, afterEach } = apply(mapGet, handlers, [frame.handler]);
      await (frame.kind === "begin" ? beforeEach : afterEach)?.(undefined, undefined, context, requireOf, request);
      return { kind: "done" };
    }
    case "job": {
      const end = await runJob(frame);
      endTimers();
      printMark(frame.mark);
      return { kind: "ended", job: frame.job.id, ...end, leftovers: openNow() > own };
    }
    default:
      return leave(72);
  }
}

async function serve() {
  if (process.argv[2] === "proxy") openProxy();
  own = openNow();
  say({ kind: "ready" });
  for (;;) {
    const frame = readFrame();
    let answer;
    try {
      answer = await answerTo(frame);
    } catch (error) {
      answer = { kind: "failed", why: textOfError(error) };
    }
    say(answer);
  }
}

void serve();
