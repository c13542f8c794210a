import { connect, type Socket } from "node:net";
import { FrameSplitter } from "./frame-splitter.ts";
import { opcodeName } from "./opcodes.ts";
import type { ProxyState, RequestFrame, Verdict } from "./proxy-types.ts";

const CONNECT_XID = 0;

/** One client and its server behind the proxy. */
export class ProxyConnection {
  private readonly client: Socket;
  private readonly server: Socket;
  private readonly state: ProxyState;
  private readonly requests = new FrameSplitter();
  private readonly replies = new FrameSplitter();
  /** Requests whose answers shall not arrive whole, by xid. */
  private readonly doomed = new Map<number, Verdict>();
  private greeted = { client: false, server: false };

  constructor(client: Socket, target: { host: string; port: number }, state: ProxyState) {
    this.client = client;
    this.state = state;
    this.server = connect({ ...target, noDelay: true });
    client.setNoDelay(true);
    client.on("data", (chunk: Buffer) => this.requests.push(chunk).forEach((frame) => this.fromClient(frame)));
    this.server.on("data", (chunk: Buffer) => this.replies.push(chunk).forEach((frame) => this.fromServer(frame)));
    for (const socket of [client, this.server]) {
      socket.on("error", () => this.cut());
      socket.on("close", () => this.cut());
    }
    this.modeChanged();
  }

  cut(): void {
    this.client.destroy();
    this.server.destroy();
  }

  modeChanged(): void {
    const stalled = this.state.mode === "hold" || this.state.mode === "hang";
    for (const socket of [this.client, this.server]) {
      if (stalled) socket.pause();
      else socket.resume();
    }
  }

  private fromClient(bytes: Buffer): void {
    if (this.client.destroyed) return;
    const frame = this.parseRequest(bytes);
    this.state.counts.set(frame.opcode, (this.state.counts.get(frame.opcode) ?? 0) + 1);
    if (this.state.mode === "blackhole") return;
    const verdict = this.state.rule(frame);
    if (verdict === "cutBefore") {
      this.cut();
      return;
    }
    if (verdict !== "pass") this.doomed.set(frame.xid, verdict);
    this.send(this.server, bytes);
  }

  private parseRequest(bytes: Buffer): RequestFrame {
    if (!this.greeted.client || bytes.length < 12) {
      this.greeted.client = true;
      return { xid: CONNECT_XID, opcode: "connect", bytes };
    }
    return { xid: bytes.readInt32BE(4), opcode: opcodeName(bytes.readInt32BE(8)), bytes };
  }

  private fromServer(bytes: Buffer): void {
    if (this.state.mode === "blackhole" || this.state.mode === "dropReplies") return;
    const xid = this.greeted.server && bytes.length >= 8 ? bytes.readInt32BE(4) : CONNECT_XID;
    this.greeted.server = true;
    const verdict = this.doomed.get(xid);
    this.doomed.delete(xid);
    switch (verdict) {
      case "dropReply":
        return;
      case "cutAfterForward": {
        this.cut();
        return;
      }
      case "cutInReply":
        this.client.end(bytes.subarray(0, Math.floor(bytes.length / 2)));
        return void this.server.destroy();
      default:
        this.send(this.client, bytes);
    }
  }

  /** Timers of equal length fire in the order they were set, so delayed frames keep theirs. */
  private send(socket: Socket, bytes: Buffer): void {
    if (this.state.delayMs === 0) socket.write(bytes);
    else setTimeout(() => socket.write(bytes), this.state.delayMs);
  }
}
