/** One connection of a peer that asks us. */
import type { Socket } from "node:net";
import type { Command, GetJobs } from "@sluice/job-queue";
import { isLoopback } from "@sluice/zookeeper";
import type { Attempt } from "../routing.ts";
import { type ClientFrame, ClientFrameSchema, isGetJobs, readCommandFrame, type ServerFrame } from "./frames.ts";
import { LINE_BYTES, LineReader, LineWriter, parseLine } from "./lines.ts";
import type { Memory } from "./memory.ts";
import { greeting, type Introduction, IntroductionSchema, isProved, proofOf } from "./trust.ts";

/** Who answers. */
export interface Desk {
  ask(shard: number, term: number, command: Command): Promise<Attempt>;
  wait(shard: number, term: number, command: GetJobs, ms: number, gone: AbortSignal): Promise<Attempt>;
  handOver(shard: number, term: number, apiId: string): void;
}

type Request = Extract<ClientFrame, { t: "ask" | "wait" }>;

export interface ServedPorts {
  readonly apiId: string;
  readonly secret: string | null;
  readonly desk: Desk;
  /** The peer has shown who it is. */
  readonly onWelcome: (peer: Introduction) => { readonly memory: Memory; readonly isKnown: boolean };
  readonly onRefused: (why: string) => void;
  readonly onClose: () => void;
}

/** Who has not said by then who they are does not mean us. */
const MEETING_MS = 5_000;
/** Peers call every two seconds: one that is silent for so long is gone, and those who waited through it are. */
const SILENCE_MS = 30_000;

export class Served {
  readonly #socket: Socket;
  readonly #ports: ServedPorts;
  readonly #reader = new LineReader();
  readonly #writer: LineWriter;
  readonly #greeting;
  #peer: { readonly apiId: string; readonly instance: string; readonly memory: Memory } | null = null;

  constructor(socket: Socket, ports: ServedPorts) {
    this.#socket = socket;
    this.#ports = ports;
    this.#writer = new LineWriter(socket);
    this.#greeting = greeting(ports.apiId);
    socket.setNoDelay(true);
    socket.setTimeout(MEETING_MS, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.once("close", () => ports.onClose());
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#writer.write(JSON.stringify(this.#greeting));
  }

  /** Null before it has shown who it is. */
  get instance(): string | null {
    return this.#peer?.instance ?? null;
  }

  send(frame: ServerFrame): void {
    if (this.#peer !== null) this.#writer.write(JSON.stringify(frame));
  }

  /** Nothing more is heard. What was said is still delivered. */
  close(): void {
    this.send({ t: "bye" });
    this.#socket.removeAllListeners("data");
    this.#socket.destroySoon();
  }

  #read(chunk: Buffer): void {
    const lines = this.#reader.push(chunk);
    if (lines === null) this.#refuse("a line is too long");
    for (const line of lines ?? []) {
      if (this.#socket.destroyed) return;
      const problem =
        this.#peer === null ? this.#meet(parseLine(line)) : this.#take(parseLine(line), this.#peer.memory);
      if (problem !== null) this.#refuse(problem);
    }
  }

  /** Why it is not welcome. */
  #meet(line: unknown): string | null {
    const { secret, onWelcome } = this.#ports;
    const met = IntroductionSchema.safeParse(line);
    if (!met.success) return "no introduction";
    const peer = met.data;
    if (!isProved(peer.proof, proofOf(secret, "client", this.#greeting, peer))) return "another secret";
    if (secret === null && !isLoopback(this.#socket.remoteAddress ?? "")) return "from afar, without a secret";
    this.#reader.limit = LINE_BYTES;
    this.#socket.setTimeout(SILENCE_MS);
    const { memory, isKnown } = onWelcome(peer);
    const welcome = { welcome: true, proof: proofOf(secret, "server", this.#greeting, peer), known: isKnown };
    this.#writer.write(JSON.stringify(welcome));
    this.#peer = { apiId: peer.api, instance: peer.instance, memory };
    return null;
  }

  #refuse(why: string): void {
    this.#ports.onRefused(why);
    if (this.#peer === null) this.#socket.write(`${JSON.stringify({ welcome: false })}\n`);
    this.#socket.destroySoon();
  }

  /** Why we hear no more of it. */
  #take(line: unknown, memory: Memory): string | null {
    const read = ClientFrameSchema.safeParse(line);
    if (!read.success) return "no frame of ours";
    const frame: ClientFrame = read.data;
    if (frame.t === "cancel") memory.cancel(frame.n);
    else if (frame.t === "hand-over") this.#ports.desk.handOver(frame.shard, frame.term, this.#peer?.apiId ?? "");
    else {
      memory.seen(frame.seen, frame.got);
      if (frame.t === "ping") this.send({ t: "pong" });
      else {
        const command = readCommandFrame(frame.command);
        if (command === null) return "no command of ours";
        // The peer asks again, or its caller is told that nobody knows.
        this.#answer(frame, command, memory).catch(() => this.send({ t: "unknown", n: frame.n }));
      }
    }
    return null;
  }

  async #answer(frame: Request, command: Command, memory: Memory): Promise<void> {
    const { n, shard, term } = frame;
    const { desk } = this.#ports;
    const gone = new AbortController();
    const waits = frame.t === "wait" && isGetJobs(command);
    const attempt = await memory.once({
      n,
      tenant: isGetJobs(command) ? command.wanted.tenant : null,
      start: () => (waits ? desk.wait(shard, term, command, frame.ms, gone.signal) : desk.ask(shard, term, command)),
      cancel: waits ? () => gone.abort() : null,
    });
    if (attempt.kind === "reply") this.#reply(n, attempt);
    else if (attempt.kind === "unknown") this.send({ t: "unknown", n });
    else this.send({ t: "no", n, why: attempt.why });
  }

  #reply(n: number, { reply }: Extract<Attempt, { kind: "reply" }>): void {
    const line = printed({ t: "reply", n, reply });
    if (line !== null && (line.length <= LINE_BYTES / 4 || Buffer.byteLength(line) <= LINE_BYTES))
      this.#writer.write(line);
    else this.send({ t: "reply", n, reply: { status: TOO_LARGE, content: { kind: "none" } } });
  }
}

/** Null: it is longer than a string can be. */
function printed(frame: ServerFrame): string | null {
  try {
    return JSON.stringify(frame);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const TOO_LARGE = { code: 503, text: "The answer is too large to be forwarded" };
