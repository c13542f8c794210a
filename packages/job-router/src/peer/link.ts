/**
 * Our connection to one peer: kept alive, made again when it breaks. A request stays open over a broken connection and is
 * sent again with its number, so that its owner does it once. When the peer refuses us twice, or stays silent, it counts as
 * dead, and what is open is answered: not done if it was never sent, else unknown.
 */
import { connect, type Socket } from "node:net";
import type { Command, GetJobs, Reply } from "@sluice/job-queue";
import type { Address, Later, RouterLog } from "../ports.ts";
import type { Attempt } from "../routing.ts";
import { plainCommand, type ServerFrame, ServerFrameSchema, type TypesFrame } from "./frames.ts";
import { LINE_BYTES, LineReader, LineWriter, parseLine } from "./lines.ts";
import { Meeting, type MeetingFailure, type MeetingPorts } from "./meeting.ts";

export type LinkAnswer = Attempt | { readonly kind: "dead"; readonly wasSent: boolean };

export interface LinkPorts extends MeetingPorts {
  readonly address: Address;
  readonly later: Later;
  readonly log: RouterLog;
  readonly onTypes: (frame: TypesFrame) => void;
  /** A request has no answer after this long; told again and again. */
  readonly onTimeout: (shard: number, term: number) => void;
  readonly onUp: () => void;
  readonly onDown: () => void;
}

/** After this long without an answer a request, a greeting, a connection counts as timed out. */
export const TIMEOUT_MS = 2_000;
const TIMEOUTS = 3;
/** Refused again after this long: nobody is there. */
const REFUSED_AGAIN_MS = 250;
const REFUSALS = 2;
/** A peer that nobody asks is called again after this long: it tells us what waits there. */
const CALL_AGAIN_MS = 1_000;

interface Open {
  readonly n: number;
  readonly shard: number;
  readonly term: number;
  readonly line: (arrived: Arrived) => string;
  /** Done twice it would be two: it is not repeated to who may have forgotten it. */
  readonly isOnce: boolean;
  readonly settle: (answer: LinkAnswer) => void;
  wasSent: boolean;
  stopTimer: () => void;
}

type Failure = MeetingFailure | "timeout";

/** Which answers we have, for the other side to forget. */
interface Arrived {
  readonly seen: number;
  readonly got?: readonly number[];
}

export class Link {
  readonly address: Address;
  readonly #ports: LinkPorts;
  readonly #open = new Map<number, Open>();
  /** Answered, with one open before them. */
  readonly #answered = new Set<number>();
  /** Those of them that the other side has not been told of. */
  #untold: number[] = [];
  #next = 1;
  #socket: Socket | null = null;
  #writer: LineWriter | null = null;
  #failures = { refused: 0, timeout: 0 };
  #silentPings = 0;
  #stopTimer: () => void = () => undefined;
  #closed = false;

  constructor(ports: LinkPorts) {
    this.address = ports.address;
    this.#ports = ports;
    this.#call();
  }

  get isUp(): boolean {
    return this.#writer !== null;
  }

  ask(shard: number, term: number, command: Command): Promise<LinkAnswer> {
    const plain = plainCommand(command);
    return this.#request(shard, term, (n, arrived) => ({ t: "ask", n, ...arrived, shard, term, command: plain }), true);
  }

  /** `gone`: the caller gives up; the owner is told, and its answer is what it had. */
  async wait(shard: number, term: number, command: GetJobs, ms: number, gone: AbortSignal): Promise<LinkAnswer> {
    const plain = plainCommand(command);
    const n = this.#next;
    const asked = this.#request(
      shard,
      term,
      (n, arrived) => ({ t: "wait", n, ...arrived, shard, term, ms, command: plain }),
      false,
    );
    const cancel = (): void => this.#cancel(n);
    gone.addEventListener("abort", cancel, { once: true });
    if (gone.aborted) cancel();
    const answer = await asked;
    gone.removeEventListener("abort", cancel);
    return answer;
  }

  /** False: nobody hears it. */
  askFor(shard: number, term: number): boolean {
    this.#writer?.write(JSON.stringify({ t: "hand-over", shard, term }));
    return this.#writer !== null;
  }

  /** [shard, term] of what is open. */
  openTerms(): readonly (readonly [number, number])[] {
    return [...this.#open.values()].map(({ shard, term }) => [shard, term] as const);
  }

  /** Requests to terms that are over: nobody will answer them. */
  abandon(isOver: (shard: number, term: number) => boolean): void {
    for (const open of [...this.#open.values()])
      if (isOver(open.shard, open.term)) this.#settle(open, open.wasSent ? { kind: "unknown" } : LEFT);
  }

  close(): void {
    this.#closed = true;
    this.#stopTimer();
    this.#socket?.destroy();
    this.abandon(() => true);
  }

  #request(
    shard: number,
    term: number,
    frame: (n: number, arrived: Arrived) => object,
    isAsk: boolean,
  ): Promise<LinkAnswer> {
    return new Promise((settle) => {
      const n = this.#next;
      this.#next += 1;
      const line = (arrived: Arrived): string => JSON.stringify(frame(n, arrived));
      const open: Open = { n, shard, term, line, isOnce: isAsk, settle, wasSent: false, stopTimer: () => undefined };
      this.#open.set(n, open);
      if (isAsk) this.#time(open);
      if (this.#writer !== null) this.#send(open, this.#writer);
      else if (this.#socket === null) this.#callAtOnce();
    });
  }

  #send(open: Open, writer: LineWriter): void {
    const line = open.line(this.#arrived());
    if (line.length > LINE_BYTES / 4 && Buffer.byteLength(line) > LINE_BYTES) {
      this.#settle(open, { kind: "reply", reply: TOO_LARGE });
      return;
    }
    open.wasSent = true;
    writer.write(line);
  }

  #cancel(n: number): void {
    const open = this.#open.get(n);
    if (open === undefined) return;
    if (open.wasSent && this.#writer !== null) this.#writer.write(JSON.stringify({ t: "cancel", n }));
    else this.#settle(open, { kind: "not-done", why: "the caller is gone" });
  }

  /** Numbers grow, so the first that is open is the smallest. */
  #seen(): number {
    const [first] = this.#open.keys();
    return first ?? this.#next;
  }

  #arrived(): Arrived {
    const seen = this.#seen();
    const got = this.#untold.filter((n) => n >= seen);
    this.#untold = [];
    return got.length === 0 ? { seen } : { seen, got };
  }

  #time(open: Open): void {
    open.stopTimer = this.#ports.later(TIMEOUT_MS, () => {
      this.#ports.onTimeout(open.shard, open.term);
      if (this.#open.has(open.n)) this.#time(open);
    });
  }

  #settle(open: Open, answer: LinkAnswer): void {
    if (!this.#open.delete(open.n)) return;
    this.#remember(open.n);
    open.stopTimer();
    open.settle(answer);
  }

  #remember(n: number): void {
    const seen = this.#seen();
    if (n < seen) {
      // Numbers grow, and so does what has been seen: usually this empties the set.
      for (const old of this.#answered) if (old < seen) this.#answered.delete(old);
      return;
    }
    this.#answered.add(n);
    this.#untold.push(n);
  }

  #callAtOnce(): void {
    this.#stopTimer();
    this.#failures = { refused: 0, timeout: 0 };
    this.#call();
  }

  #call(): void {
    if (this.#closed) return;
    const { host, port } = this.#ports.address;
    const socket = connect({ host, port });
    this.#socket = socket;
    let failure: Failure = "refused";
    const fail = (why: Failure): void => {
      failure = why;
      socket.destroy();
    };
    this.#stopTimer = this.#ports.later(TIMEOUT_MS, () => fail("timeout"));
    socket.setNoDelay(true);
    const reader = new LineReader();
    const meeting = new Meeting(this.#ports);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      const lines = reader.push(chunk);
      if (lines === null) socket.destroy();
      for (const line of lines ?? []) {
        if (socket.destroyed) return;
        if (this.#writer !== null) this.#take(parseLine(line), socket);
        else {
          const step = meeting.hear(parseLine(line));
          if (step.kind === "say") socket.write(`${JSON.stringify(step.line)}\n`);
          else if (step.kind === "failed") fail(step.why);
          else {
            reader.limit = LINE_BYTES;
            this.#begin(socket, step.isForgotten);
          }
        }
      }
    });
    socket.once("close", () => this.#onClose(failure));
  }

  #begin(socket: Socket, isForgotten: boolean): void {
    this.#stopTimer();
    this.#failures = { refused: 0, timeout: 0 };
    this.#silentPings = 0;
    const writer = new LineWriter(socket);
    this.#writer = writer;
    // What was told over the old connection may never have arrived.
    this.#untold = [...this.#answered];
    for (const open of [...this.#open.values()]) {
      if (isForgotten && open.wasSent && open.isOnce) this.#settle(open, { kind: "unknown" });
      else this.#send(open, writer);
    }
    this.#ping(socket, writer);
    this.#ports.onUp();
  }

  #ping(socket: Socket, writer: LineWriter): void {
    if (this.#silentPings >= TIMEOUTS) {
      this.#down();
      this.#die("it is silent");
      socket.destroy();
      return;
    }
    this.#silentPings += 1;
    writer.write(JSON.stringify({ t: "ping", ...this.#arrived() }));
    this.#stopTimer = this.#ports.later(TIMEOUT_MS, () => this.#ping(socket, writer));
  }

  #take(line: unknown, socket: Socket): void {
    const read = ServerFrameSchema.safeParse(line);
    if (!read.success) {
      socket.destroy();
      return;
    }
    this.#silentPings = 0;
    const frame = read.data as unknown as ServerFrame;
    if (frame.t === "bye") {
      this.#down();
      for (const open of [...this.#open.values()]) this.#settle(open, LEFT);
      socket.destroy();
      return;
    }
    if (frame.t === "types") {
      this.#ports.onTypes(frame);
      return;
    }
    if (!("n" in frame)) return;
    const open = this.#open.get(frame.n);
    if (open !== undefined) this.#settle(open, answerOf(frame));
  }

  /** Before anybody hears of it: what is asked from now on must not go to a socket that is about to close. */
  #down(): void {
    this.#writer = null;
    this.#ports.onDown();
  }

  #onClose(failure: Failure): void {
    this.#stopTimer();
    const wasUp = this.#writer !== null;
    this.#socket = null;
    if (wasUp) this.#down();
    if (this.#closed) return;
    if (wasUp) this.#callAtOnce();
    else if (failure === "distrust") this.#distrust();
    else this.#onRefused(failure);
  }

  #onRefused(failure: "refused" | "timeout"): void {
    this.#failures[failure] += 1;
    const { refused, timeout } = this.#failures;
    if (refused >= REFUSALS || timeout >= TIMEOUTS)
      this.#die(refused >= REFUSALS ? "it refuses" : "it does not answer");
    const isDead = refused >= REFUSALS || timeout >= TIMEOUTS;
    const ms = isDead ? CALL_AGAIN_MS : failure === "refused" ? REFUSED_AGAIN_MS : 0;
    this.#stopTimer = this.#ports.later(ms, () => (isDead ? this.#callAtOnce() : this.#call()));
  }

  #die(why: string): void {
    if (this.#open.size > 0) this.#ports.log.warn({ peer: this.#ports.peerId, why }, "a peer does not answer");
    for (const open of [...this.#open.values()]) this.#settle(open, { kind: "dead", wasSent: open.wasSent });
  }

  /** It lives, and does not believe us or is not to be believed: no reason to take anything from it. */
  #distrust(): void {
    this.#ports.log.error({ peer: this.#ports.peerId }, "a peer has another secret");
    for (const open of [...this.#open.values()])
      this.#settle(
        open,
        open.wasSent ? { kind: "unknown" } : { kind: "not-done", why: "its owner has another secret" },
      );
    this.#stopTimer = this.#ports.later(CALL_AGAIN_MS, () => this.#callAtOnce());
  }
}

function answerOf(frame: Extract<ServerFrame, { n: number }>): Attempt {
  if (frame.t === "reply") return { kind: "reply", reply: frame.reply };
  return frame.t === "unknown" ? { kind: "unknown" } : { kind: "not-done", why: frame.why };
}

const LEFT: Attempt = { kind: "not-done", why: "its owner has left" };

const TOO_LARGE: Reply = {
  status: { code: 402, text: "Too large to be forwarded" },
  content: { kind: "none" },
};
