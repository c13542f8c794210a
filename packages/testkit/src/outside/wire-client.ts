/** A client over a real socket, as plain as nc. */
import { connect, type Socket } from "node:net";
import { waitFor } from "../wait-for.ts";

export class WireClient {
  readonly socket: Socket;
  received = "";
  isClosed = false;
  #read = 0;

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1" });
    this.socket.on("data", (chunk: Buffer) => (this.received += chunk.toString()));
    this.socket.on("error", () => undefined);
    this.socket.once("close", () => (this.isClosed = true));
  }

  send(...lines: readonly string[]): void {
    this.socket.write(`${lines.join("\n")}\n\n`);
  }

  /** The next answer, whole. */
  async answer(): Promise<string> {
    return waitFor(() => {
      const rest = this.received.slice(this.#read);
      const head = /^(.*?)\r\n\r\n/s.exec(rest)?.[0];
      if (head === undefined) return undefined;
      const length = head.length + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (rest.length < length) return undefined;
      this.#read += length;
      return rest.slice(0, length).replaceAll("\r\n", "\n");
    });
  }

  async say(...lines: readonly string[]): Promise<string> {
    this.send(...lines);
    return this.answer();
  }
}
