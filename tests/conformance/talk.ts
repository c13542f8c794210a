/** One caller of the queue, at one of its two doors. Its requests go to two processes in turn. */
import { request } from "undici";
import { connect, type Socket } from "node:net";
import { once } from "node:events";

/** Where one process listens. */
export interface Address {
  readonly http: string;
  readonly tcp: number;
  readonly token?: string;
}

export interface Said {
  /** In the words of the document, such as `402 Missing name`; `HTTP 400` for what HTTP refused before the queue read it. */
  readonly status: string;
  readonly content: unknown;
  /** As it came. */
  readonly text: string;
  readonly lease: string | null;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface Talk {
  readonly door: "TCP" | "HTTP";
  ask(verb: string, fields?: Fields): Promise<Said>;
  /** Without waiting: what is under way when the caller hangs up. */
  hangUp(): void;
}

/** What is said of a job with the lease that came with it: two connections are one caller then. */
const OF_HOLDER = ["FinishJob", "RetryJob", "FailJob", "UpdateJob"];

/** A caller that shows the lease of what it was given, unless a case says what to show. */
class Leases {
  readonly #held = new Map<number, string>();

  with(verb: string, fields: Fields): Fields {
    const lease = this.#held.get(Number(fields["jobID"]));
    return lease === undefined || !OF_HOLDER.includes(verb) ? fields : { lease, ...fields };
  }
  note(verb: string, { jobID }: Fields, said: Said): Said {
    const taken = (said.content as { readonly jobID?: number } | null)?.jobID;
    if (verb === "GetJob" && said.lease !== null && taken !== undefined) this.#held.set(taken, said.lease);
    if (verb !== "UpdateJob" && OF_HOLDER.includes(verb) && said.status === "200 OK") this.#held.delete(Number(jobID));
    return said;
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
const parsed = (text: string): unknown => (text === "" ? null : (JSON.parse(text) as unknown));

/** Beyond it a header is no place for a text. */
const HEADER_MOST = 8_000;

class Line {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #wake: () => void = () => undefined;
  #isClosed = false;

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1" });
    this.#socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.#socket.on("error", () => undefined);
    this.#socket.once("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  async say(text: string): Promise<Said> {
    if (this.#socket.connecting) await once(this.#socket, "connect");
    this.#socket.write(text);
    for (;;) {
      const said = this.#next();
      if (said !== null) return said;
      if (this.#isClosed) throw new Error("the connection was closed");
      await new Promise<void>((wake) => (this.#wake = wake));
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #next(): Said | null {
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return null;
    const [status = "", ...headers] = this.#received.subarray(0, end).toString().split("\r\n");
    const header = (name: string): string | undefined =>
      headers.find((each) => each.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2);
    const length = Number(header("content-length") ?? 0);
    if (this.#received.length < end + 4 + length) return null;
    const text = this.#received.subarray(end + 4, end + 4 + length).toString();
    this.#received = this.#received.subarray(end + 4 + length);
    return { status, text, content: parsed(text), lease: header("lease") ?? null };
  }
}

function requestOf(verb: string, fields: Fields): string {
  const texts = Object.entries(fields).map(([name, value]) => [name, textOf(value)] as const);
  const large = texts.some(([, text]) => text.length > HEADER_MOST);
  const content = large ? JSON.stringify(Object.fromEntries(texts)) : "";
  const head = large
    ? [`Content-Length: ${Buffer.byteLength(content)}`]
    : texts.map(([name, text]) => `${name}: ${text}`);
  return [verb, ...head, "", content].join("\r\n");
}

/** As a client of Bedrock may be: a connection for each command, the fields that come by themselves, no lease. */
export function talkByCommand(addresses: readonly Address[]): Talk {
  const gone: Line[] = [];
  let turn = 0;
  return {
    door: "TCP",
    ask: async (verb, fields = {}) => {
      const address = addresses[turn++ % addresses.length];
      if (address === undefined) throw new Error("no process");
      const line = new Line(address.tcp);
      gone.push(line);
      const said = await line.say(requestOf(verb, fields));
      line.close();
      return said;
    },
    hangUp: () => gone.forEach((line) => line.close()),
  };
}

export function talkOverTcp(addresses: readonly Address[]): Talk {
  const lines = addresses.map(({ tcp }) => new Line(tcp));
  const leases = new Leases();
  let turn = 0;
  return {
    door: "TCP",
    ask: async (verb, given = {}) => {
      const line = lines[turn++ % lines.length];
      if (line === undefined) throw new Error("no process");
      const fields = leases.with(verb, given);
      return leases.note(verb, fields, await line.say(requestOf(verb, { fields: "all", ...fields })));
    },
    hangUp: () => lines.forEach((line) => line.close()),
  };
}

export function talkOverHttp(addresses: readonly Address[]): Talk {
  const gone = new AbortController();
  const leases = new Leases();
  let turn = 0;
  return {
    door: "HTTP",
    ask: async (verb, given = {}) => {
      const fields = leases.with(verb, given);
      const { http, token } = addresses[turn++ % addresses.length] ?? { http: "" };
      const path = `/v1/tenants/default/commands/${(verb.split(" ")[0] ?? "").trim()}`;
      const answer = await request(`${http}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(fields),
        signal: gone.signal,
      });
      const text = await answer.body.text();
      const status = String(answer.headers["job-status"] ?? `HTTP ${answer.statusCode}`);
      if (answer.statusCode >= 400) return { status, text, content: null, lease: null };
      // The other door has it in a header.
      const { lease, ...content } = parsed(text) as Record<string, unknown>;
      return leases.note(verb, fields, { status, text, content, lease: typeof lease === "string" ? lease : null });
    },
    hangUp: () => gone.abort(),
  };
}
