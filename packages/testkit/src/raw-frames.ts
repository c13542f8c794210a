import { connect, type Socket } from "node:net";
import { JuteReader, JuteWriter } from "./jute.ts";
import { OPCODE } from "./opcodes.ts";

export interface Reply {
  readonly zxid: bigint;
  readonly error: number;
  readonly body: JuteReader;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

const PING_XID = -2;

/** Requests and replies of one connection, in order: ZooKeeper answers a session's requests as they came. */
export class FrameConnection {
  private readonly socket: Socket;
  private readonly waiting: Waiting[] = [];
  private received = Buffer.alloc(0);
  private lastXid = 0;
  private greeting: ((frame: Buffer) => void) | null = null;

  constructor(host: string, port: number) {
    this.socket = connect({ host, port, noDelay: true });
    this.socket.on("data", (chunk: Buffer) => this.take(chunk));
    this.socket.on("error", (error) => this.fail(error));
    this.socket.on("close", () => this.fail(new Error("the connection was closed")));
  }

  /** The first exchange has no headers. */
  greet(frame: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.greeting = resolve;
      this.waiting.push({ resolve: () => undefined, reject });
      this.socket.write(frame);
    });
  }

  request(opcode: number, payload: JuteWriter): Promise<Reply> {
    this.lastXid += 1;
    const frame = new JuteWriter().int(this.lastXid).int(opcode).raw(payload.bytes()).frame();
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) {
        reject(new Error("the connection is closed"));
        return;
      }
      this.waiting.push({ resolve, reject });
      this.socket.write(frame);
    });
  }

  ping(): void {
    this.socket.write(new JuteWriter().int(PING_XID).int(OPCODE.ping).frame());
  }

  destroy(): void {
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    this.received = Buffer.concat([this.received, chunk]);
    while (this.received.length >= 4) {
      const end = 4 + this.received.readInt32BE(0);
      if (this.received.length < end) return;
      const frame = this.received.subarray(4, end);
      this.received = this.received.subarray(end);
      this.deliver(frame);
    }
  }

  private deliver(frame: Buffer): void {
    if (this.greeting !== null) {
      this.waiting.shift();
      this.greeting(frame);
      this.greeting = null;
      return;
    }
    const body = new JuteReader(frame);
    const xid = body.int();
    const reply: Reply = { zxid: body.long(), error: body.int(), body };
    // Negative: answers to pings, and watch events, which this client never asks for.
    if (xid > 0) this.waiting.shift()?.resolve(reply);
  }

  private fail(error: Error): void {
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }
}
