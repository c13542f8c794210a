/** A connection without a socket: what is typed, and what comes back. */
import { type Admission, Conversation, type Line, type Peer } from "../../src/bedrock/conversation.ts";
import { Errands } from "../../src/bedrock/errands.ts";
import { printWireReply } from "../../src/bedrock/reply-printer.ts";
import { RequestParser, type WireRequest } from "../../src/bedrock/request-parser.ts";
import type { JobNews } from "../../src/heard.ts";
import type { MemoryQueue } from "./memory-queue.ts";

export class WireTalk {
  readonly conversation: Conversation;
  readonly errands: Errands;
  readonly #ended = new AbortController();
  readonly #closed = new AbortController();

  readonly heard: JobNews[] = [];

  constructor(
    queue: MemoryQueue,
    peer: Partial<Peer> = {},
    admit: (request: WireRequest) => Admission = anybody,
    onError: (error: unknown) => void = failed,
  ) {
    this.errands = new Errands(queue.later, { onError });
    const hear = (news: JobNews): void => void this.heard.push(news);
    const ports = { queue, errands: this.errands, now: () => queue.now, later: queue.later, admit, hear };
    this.conversation = new Conversation(
      { ...ports, onError: failed },
      { name: "tcp test", address: "127.0.0.1", isNear: true, ...peer },
    );
  }

  /** The answer as it is printed, with plain line ends. */
  async say(...lines: readonly string[]): Promise<string> {
    return this.send(`${lines.join("\n")}\n\n`);
  }

  async send(text: string): Promise<string> {
    const [item, ...more] = new RequestParser().push(Buffer.from(text));
    if (item?.kind !== "request" || more.length > 0) throw new Error(`not one request: ${text}`);
    const line: Line = { ended: this.#ended.signal, closed: this.#closed.signal, admitted: () => null };
    const reply = await this.conversation.answer(item, line);
    return printWireReply(reply).toString().replaceAll("\r\n", "\n");
  }

  end(): void {
    this.#ended.abort();
  }

  close(): void {
    this.#ended.abort();
    this.#closed.abort();
  }
}

const failed = (error: unknown): void => {
  throw error;
};

const anybody = ({ headers }: WireRequest): Admission => ({ tenant: headers.get("tenant") ?? "default" });

export const statusOf = (answer: string): string => answer.split("\n")[0] ?? "";
export const contentOf = (answer: string): unknown => {
  const content = answer.slice(answer.indexOf("\n\n") + 2);
  return content === "" ? null : (JSON.parse(content) as unknown);
};
