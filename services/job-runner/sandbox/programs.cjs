/*
 * Runs inside the walls, as the first process of its pid namespace, and runs the scripts of a handler by an interpreter: a
 * process for each job, which gets its payload on its standard input. What it says is checked by the runner outside.
 *
 * Arguments: the interpreter and its options; a script's file comes last.
 */
"use strict";
const { spawn } = require("node:child_process");
const { unlinkSync, writeFileSync } = require("node:fs");
const { readFrame, writeAll, leave, say, printMark } = require("./frames.cjs");

const [program, ...options] = process.argv.slice(2);
const ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp", TMPDIR: "/tmp", LANG: "C.UTF-8" };
const RESULT_BYTES = 16 * 1024 * 1024 + 4;
const STDERR_KEPT = 2_000;
const handlers = new Map();
let scripts = 0;

/* All else in this namespace belongs to the script that has ended. */
function killOthers() {
  try {
    process.kill(-1, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

function bounded(stream, most, onChunk = () => {}) {
  const kept = { chunks: [], bytes: 0 };
  stream.on("error", () => {});
  stream.on("data", (chunk) => {
    onChunk(chunk);
    kept.bytes += chunk.length;
    if (kept.bytes <= most) kept.chunks.push(chunk);
  });
  return kept;
}

/* How it ended: what it said on descriptor 3, its last words, whether it left processes behind. */
function run(script, input, environment) {
  const file = `/tmp/.script-${(scripts += 1)}`;
  writeFileSync(file, script);
  return new Promise((resolve) => {
    const child = spawn(program, [...options, file], {
      cwd: "/tmp",
      env: { ...ENVIRONMENT, ...environment },
      stdio: ["pipe", 1, "pipe", "pipe"],
    });
    let words = Buffer.alloc(0);
    const [stdin, , stderr, line] = child.stdio;
    const said = bounded(line, RESULT_BYTES);
    bounded(stderr, 0, (chunk) => {
      writeAll(2, chunk);
      words = Buffer.concat([words, chunk]).subarray(-STDERR_KEPT);
    });
    // A script may end without having read what it was given.
    stdin.on("error", () => {});
    stdin.end(input);
    let leftovers = false;
    child.on("exit", () => (leftovers = killOthers()));
    child.on("error", (error) => resolve({ why: error.message, said: "", tooMuch: false, leftovers }));
    child.on("close", (code, signal) => {
      try {
        unlinkSync(file);
      } catch {
        // It removed itself.
      }
      const why = code === 0 ? null : `it ended with ${signal ?? `status ${code}`}${lastOf(words)}`;
      resolve({
        why,
        said: Buffer.concat(said.chunks).toString("utf8"),
        tooMuch: said.bytes > RESULT_BYTES,
        leftovers,
      });
    });
  });
}

function lastOf(words) {
  const line = words.toString("utf8").trim().split("\n").pop();
  return line === "" ? "" : `: ${line}`;
}

/* `exitcode[ result]`; whatever else is the result of a success. */
function endOf({ why, said, tooMuch }) {
  if (why !== null) return { exit: 500, result: why };
  if (tooMuch) return { exit: 413, result: "the result is larger than 16 MB" };
  const text = said.endsWith("\n") ? said.slice(0, -1) : said;
  const [, exit, result] = /^([1-5]\d\d)(?:[ \n]([^]*))?$/.exec(text) ?? [];
  if (exit !== undefined) return { exit: Number(exit), ...(result === undefined ? {} : { result }) };
  return { exit: 200, ...(text === "" ? {} : { result: text }) };
}

/* Around jobs: it must end well. */
async function prepare(script) {
  if (script === undefined) return;
  const { why } = await run(script, "", {});
  if (why !== null) throw new Error(why);
}

async function answerTo(frame) {
  switch (frame.kind) {
    case "load":
      handlers.set(frame.handler.id, frame.handler);
      await prepare(frame.handler.before);
      return { kind: "done" };
    case "begin":
    case "end": {
      const { beforeEach, afterEach } = handlers.get(frame.handler);
      await prepare(frame.kind === "begin" ? beforeEach : afterEach);
      return { kind: "done" };
    }
    case "job": {
      const { id, type } = frame.job;
      const ended = await run(handlers.get(frame.handler).body, `${frame.payload}\n`, {
        JOB_ID: String(id),
        JOB_TYPE: type,
      });
      printMark(frame.mark);
      return { kind: "ended", job: id, ...endOf(ended), leftovers: ended.leftovers };
    }
    default:
      return leave(72);
  }
}

async function serve() {
  // Elsewhere it would end what is not its own.
  if (process.pid !== 1) leave(73);
  say({ kind: "ready" });
  for (;;) {
    const frame = readFrame();
    let answer;
    try {
      answer = await answerTo(frame);
    } catch (error) {
      answer = { kind: "failed", why: error.message };
    }
    say(answer);
  }
}

void serve();
