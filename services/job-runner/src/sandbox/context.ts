/**
 * One process behind the walls, with handlers of one tenant in it. Jobs go in one at a time. Whatever it does besides ending
 * the job it was given ends it: too long, too loud, gone, or talking nonsense.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Duplex, Readable } from "node:stream";
import { type Box, commandOf, harnessPlace } from "./box.ts";
import type { Interpreter } from "./interpreters.ts";
import { type Output, type OutputLimits, OutputReader } from "./output.ts";
import { frameOf, FrameReader, Said } from "./protocol.ts";
import { useOf } from "./use.ts";

export interface Scripts {
  readonly id: string;
  readonly before?: string | undefined;
  readonly beforeEach?: string | undefined;
  readonly body: string;
  readonly afterEach?: string | undefined;
}

export interface ContextOptions {
  readonly box: Box;
  readonly memoryMb: number;
  readonly files: readonly { readonly source: string; readonly place: string }[];
  /** Takes the line on which code inside may ask for requests; null: it may ask for none. */
  readonly openWayOut: ((line: Duplex) => void) | null;
  readonly output: OutputLimits;
  readonly resultBytes: number;
  readonly startMs: number;
  /** Runs the handler's scripts; null: they are Node's. */
  readonly interpreter: Interpreter | null;
}

export interface JobInBox {
  readonly id: number;
  readonly type: string;
  readonly payload: string;
}

export interface Limits {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** Why a context is no more. */
export type Broken = "timeout" | "cpu" | "memory" | "flood" | "crash" | "nonsense" | "ended";

export type JobEnd =
  | { readonly kind: "ended"; readonly exit: number; readonly result: string | undefined; readonly output: Output }
  | { readonly kind: "broken"; readonly why: Broken; readonly detail: string; readonly output: Output };

export type StepEnd = { readonly ok: true } | { readonly ok: false; readonly detail: string };

const LOOK_MS = 500;
const MIB = 1_048_576;
/** Of the harness beside the scripts of an interpreter. */
const HARNESS_MB = 192;
const JSON_ROOM = 6;
const STDERR_KEPT = 2_000;
/** The mark was printed before the end was said: it can only be on its way. */
const MARK_MS = 5_000;

export class Context {
  readonly #child: ChildProcess;
  readonly #output: OutputReader;
  readonly #loaded = new Set<string>();
  readonly gone: Promise<void>;
  #broken: { readonly why: Broken; readonly detail: string } | null = null;
  #waiting: ((said: Said | null) => void) | null = null;
  #stderr = "";
  #stderrBytes = 0;
  #dirty = false;
  #jobs = 0;
  readonly #mostBytes: number;

  constructor(options: ContextOptions) {
    const { box, memoryMb, files, openWayOut, interpreter } = options;
    const own = interpreter === null ? (openWayOut === null ? [] : ["proxy"]) : [interpreter.program];
    const inside = { memoryMb, files, run: [harnessPlace(box), ...own] };
    const { command, args, env } = commandOf(box, interpreter === null ? inside : { ...inside, interpreter });
    // One process is held by the kernel; several together are looked at.
    this.#mostBytes = interpreter === null ? Infinity : (memoryMb + HARNESS_MB) * MIB;
    this.#child = spawn(command, args, {
      cwd: box.root,
      env,
      // A group of its own, so that all of it can be ended.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe", ...(openWayOut === null ? [] : ["pipe" as const])],
    });
    this.#output = new OutputReader(options.output, () => this.end("flood", "printed too much"));
    const [, stdout, stderr, channel, proxy] = this.#child.stdio as unknown as [
      null,
      Readable,
      Readable,
      Duplex,
      Duplex?,
    ];
    stdout.on("data", (chunk: Buffer) => this.#output.push(chunk));
    stderr.on("data", (chunk: Buffer) => this.#keepStderr(chunk, options.output.bytes));
    this.#listen(channel, options.resultBytes * JSON_ROOM + 4_096);
    if (proxy !== undefined) {
      proxy.on("error", () => undefined);
      openWayOut?.(proxy);
    }
    this.gone = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#break("crash", error.message);
        resolve();
      });
      this.#child.once("exit", (code, signal) => {
        this.#break("crash", `the process ended: ${signal ?? `code ${code}`}${this.#lastWords()}`);
        resolve();
      });
    });
  }

  /** A job left something open that it began: the next job would not be alone. */
  get isReusable(): boolean {
    return this.#broken === null && !this.#dirty;
  }

  get broken(): Broken | null {
    return this.#broken?.why ?? null;
  }

  get jobs(): number {
    return this.#jobs;
  }

  async ready(withinMs: number): Promise<StepEnd> {
    return this.#judged(await this.#hear(withinMs), "ready");
  }

  /** Once for each handler. */
  async load(scripts: Scripts, limits: Limits): Promise<StepEnd> {
    if (this.#loaded.has(scripts.id)) return { ok: true };
    const loaded = this.#judged(await this.#askWithin({ kind: "load", handler: scripts }, limits), "done");
    if (loaded.ok) this.#loaded.add(scripts.id);
    return loaded;
  }

  async step(kind: "begin" | "end", handler: string, limits: Limits): Promise<StepEnd> {
    return this.#judged(await this.#askWithin({ kind, handler }, limits), "done");
  }

  async run(handler: string, job: JobInBox, limits: Limits): Promise<JobEnd> {
    this.#jobs += 1;
    const mark = randomBytes(16).toString("hex");
    this.#output.begin(mark);
    const frame = { kind: "job", handler, mark, payload: job.payload, job: { id: job.id, type: job.type } };
    const said = await this.#askWithin(frame, limits);
    if (said?.kind === "ended" && said.job === job.id && this.#broken === null) {
      const late = setTimeout(() => this.end("nonsense", "ended a job without its mark"), MARK_MS);
      await Promise.race([this.#output.untilMark(), this.gone]);
      clearTimeout(late);
      if (said.leftovers) this.#dirty = true;
      return { kind: "ended", exit: said.exit, result: said.result, output: this.#output.taken() };
    }
    if (said !== null) this.end("nonsense", "answered what was not asked");
    const { why, detail } = this.#broken ?? { why: "nonsense" as const, detail: "" };
    return { kind: "broken", why, detail, output: this.#output.taken() };
  }

  /** The whole group, at once. What is inside a pid namespace goes with its first process. */
  end(why: Broken, detail: string): void {
    this.#break(why, detail);
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      this.#child.kill("SIGKILL");
    }
  }

  #break(why: Broken, detail: string): void {
    this.#broken ??= { why, detail };
    this.#waiting?.(null);
  }

  #judged(said: Said | null, wanted: Said["kind"]): StepEnd {
    if (said?.kind === wanted) return { ok: true };
    if (said?.kind === "failed") return { ok: false, detail: said.why };
    if (said !== null) this.end("nonsense", "answered what was not asked");
    return { ok: false, detail: `${this.#broken?.why ?? ""}: ${this.#broken?.detail ?? ""}` };
  }

  /** Whatever of the tenant's code is run: its jobs, and what it wants before and after them. */
  async #askWithin(frame: unknown, { wallMs, cpuMs }: Limits): Promise<Said | null> {
    if (this.#broken !== null) return null;
    const stop = this.#watchUse(cpuMs);
    const channel = this.#child.stdio[3] as Duplex;
    channel.write(frameOf(frame));
    const said = await this.#hear(wallMs);
    stop();
    return said;
  }

  /** The one answer that is due; null when the context broke first. */
  #hear(withinMs: number): Promise<Said | null> {
    if (this.#broken !== null) return Promise.resolve(null);
    return new Promise((resolve) => {
      const late = setTimeout(() => this.end("timeout", `no end within ${withinMs} ms`), withinMs);
      this.#waiting = (said) => {
        this.#waiting = null;
        clearTimeout(late);
        resolve(said);
      };
    });
  }

  #listen(channel: Duplex, maxBytes: number): void {
    const reader = new FrameReader(maxBytes);
    channel.on("error", () => undefined);
    channel.on("data", (chunk: Buffer) => {
      const frames = reader.take(chunk);
      for (const frame of frames ?? [null]) {
        const said = Said.safeParse(frame);
        // One question, one answer: whatever comes unasked comes from code that pretends to be the harness.
        if (said.success && this.#waiting !== null) this.#waiting(said.data);
        else this.end("nonsense", "spoke out of turn");
      }
    });
  }

  #keepStderr(chunk: Buffer, maxBytes: number): void {
    this.#stderrBytes += chunk.length;
    if (this.#stderrBytes > maxBytes) this.end("flood", "printed too much");
    this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-STDERR_KEPT);
  }

  #lastWords(): string {
    const line = this.#stderr.split("\n").find((each) => /FATAL ERROR|Error:/.test(each));
    return line === undefined ? "" : `: ${line.trim().slice(0, 200)}`;
  }

  #watchUse(maxMs: number): () => void {
    const { pid } = this.#child;
    if (pid === undefined) return () => undefined;
    let before: number | null = null;
    const look = async (): Promise<void> => {
      const used = await useOf(pid);
      if (used === null) return;
      before ??= used.cpuMs;
      if (used.cpuMs - before > maxMs) this.end("cpu", `used more than ${maxMs} ms of a processor`);
      else if (used.bytes > this.#mostBytes)
        this.end("memory", `used more than ${Math.floor(this.#mostBytes / MIB)} MB of memory`);
    };
    // A process that is gone has no times any more.
    const lookAside = (): void => void look().catch(() => undefined);
    lookAside();
    const timer = setInterval(lookAside, LOOK_MS);
    return () => clearInterval(timer);
  }
}
