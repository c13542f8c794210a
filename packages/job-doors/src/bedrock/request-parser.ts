/**
 * Requests as they come over a connection, in whatever pieces: a verb, named texts, an empty line, and as many bytes of
 * content as `Content-Length` says. Lines end with LF or CRLF. What cannot be read is told as such; where the next request
 * begins is then known (`fatal: false`) or not.
 */
import type { Status } from "@sluice/job-queue";

export interface WireRequest {
  readonly kind: "request";
  readonly verb: string;
  /** By name in lower case; of a name that comes twice the last counts. */
  readonly headers: ReadonlyMap<string, string>;
  readonly content: string;
  /** What it took on the wire. */
  readonly bytes: number;
}

export interface WireFault {
  readonly kind: "fault";
  readonly status: Status;
  readonly fatal: boolean;
  readonly bytes: number;
}

export interface WireLimits {
  readonly verbBytes: number;
  readonly headBytes: number;
  readonly headers: number;
  readonly contentBytes: number;
}

/** A CreateJobs has all its jobs in one header. */
export const WIRE_LIMITS: WireLimits = {
  verbBytes: 4 * 1024,
  headBytes: 4 * 1024 * 1024,
  headers: 200,
  contentBytes: 4 * 1024 * 1024,
};

const MALFORMED: Status = { code: 400, text: "Malformed request" };
const HTTP: Status = { code: 400, text: "This port speaks Bedrock's protocol: HTTP has a port of its own" };
const TOO_LARGE: Status = { code: 413, text: "Request too large" };

const LF = 0x0a;

/**
 * Pages can make the browser of whoever works on this machine send here, where loopback may be all that is asked for. A
 * line may end like one of HTTP, as Bedrock's own clients write it; but browsers always say to which host they speak, and
 * no client of Bedrock does.
 */
const HTTP_VERBS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"]);
const OF_BROWSERS = ["host", "origin", "referer", "cookie", "sec-fetch-site", "sec-fetch-mode", "sec-websocket-key"];

interface Head {
  readonly verb: string;
  readonly headers: Map<string, string>;
  /** A line that names nothing: the request is refused, but it can be read to its end. */
  broken: boolean;
  bytes: number;
}

export class RequestParser {
  readonly #limits: WireLimits;
  #pieces: Buffer[] = [];
  /** Bytes in `pieces`. */
  #held = 0;
  #head: Head | null = null;
  /** Bytes of content that are to come; null while reading lines. */
  #contentLeft: number | null = null;
  #dead = false;

  constructor(limits: WireLimits = WIRE_LIMITS) {
    this.#limits = limits;
  }

  /** Whether a request has begun and not ended. */
  get isPartial(): boolean {
    return this.#head !== null || this.#held > 0;
  }

  /** Of a request that has begun. */
  get heldBytes(): number {
    return this.#held + (this.#head?.bytes ?? 0);
  }

  /** After a fatal fault everything is ignored. */
  push(chunk: Buffer): (WireRequest | WireFault)[] {
    const found: (WireRequest | WireFault)[] = [];
    let rest = chunk;
    while (!this.#dead && rest.length > 0) {
      const { item, left } = this.#contentLeft === null ? this.#takeLine(rest) : this.#takeContent(rest);
      rest = left;
      if (item === null) continue;
      found.push(item);
      if (item.kind === "fault" && item.fatal) this.#dead = true;
    }
    return found;
  }

  #takeLine(chunk: Buffer): Step {
    const end = chunk.indexOf(LF);
    const piece = end < 0 ? chunk : chunk.subarray(0, end);
    const { verbBytes, headBytes } = this.#limits;
    const room = this.#head === null ? verbBytes : headBytes - this.#head.bytes;
    if (this.#held + piece.length > room) return { item: this.#fatal(TOO_LARGE), left: NOTHING };
    this.#keep(piece);
    if (end < 0) return { item: null, left: NOTHING };
    const bytes = this.#held + 1;
    const line = this.#release();
    return { item: this.#onLine(line.endsWith("\r") ? line.slice(0, -1) : line, bytes), left: chunk.subarray(end + 1) };
  }

  #onLine(line: string, bytes: number): WireRequest | WireFault | null {
    const head = this.#head;
    if (head === null) {
      // Empty lines between requests do no harm: people press Enter.
      if (line.trim() === "") return null;
      if (!/^[A-Za-z]+( |$)/.test(line)) return this.#fatal(MALFORMED);
      const verb = line.split(" ", 1)[0] ?? "";
      if (HTTP_VERBS.has(verb.toUpperCase())) return this.#fatal(HTTP);
      this.#head = { verb, headers: new Map(), broken: false, bytes };
      return null;
    }
    head.bytes += bytes;
    if (line === "") return this.#onHeadEnd(head);
    const colon = line.indexOf(":");
    if (colon <= 0) head.broken = true;
    else {
      const name = line.slice(0, colon).trim().toLowerCase();
      const value = line.slice(colon + 1).trim();
      if (OF_BROWSERS.includes(name)) return this.#fatal(HTTP);
      // Two lengths are two opinions about where the next request begins.
      if (name === "content-length" && (head.headers.get(name) ?? value) !== value) return this.#fatal(MALFORMED);
      head.headers.set(name, value);
    }
    return head.headers.size > this.#limits.headers ? this.#fatal(TOO_LARGE) : null;
  }

  #onHeadEnd(head: Head): WireRequest | WireFault | null {
    const raw = head.headers.get("content-length") ?? "0";
    if (!/^\d{1,15}$/.test(raw) || head.headers.has("transfer-encoding")) return this.#fatal(MALFORMED);
    const length = Number(raw);
    if (length > this.#limits.contentBytes) return this.#fatal(TOO_LARGE);
    if (length === 0) return this.#complete(head, "");
    this.#contentLeft = length;
    return null;
  }

  #takeContent(chunk: Buffer): Step {
    const left = this.#contentLeft ?? 0;
    const piece = chunk.subarray(0, left);
    this.#keep(piece);
    this.#contentLeft = left - piece.length;
    const after = chunk.subarray(piece.length);
    if (this.#contentLeft > 0 || this.#head === null) return { item: null, left: after };
    this.#head.bytes += this.#held;
    return { item: this.#complete(this.#head, this.#release()), left: after };
  }

  #complete({ verb, headers, broken, bytes }: Head, content: string): WireRequest | WireFault {
    this.#head = null;
    this.#contentLeft = null;
    if (broken) return { kind: "fault", status: MALFORMED, fatal: false, bytes };
    return { kind: "request", verb, headers, content, bytes };
  }

  #keep(piece: Buffer): void {
    if (piece.length > 0) this.#pieces.push(piece);
    this.#held += piece.length;
  }

  #release(): string {
    const text = Buffer.concat(this.#pieces).toString("utf8");
    this.#pieces = [];
    this.#held = 0;
    return text;
  }

  #fatal(status: Status): WireFault {
    this.#pieces = [];
    return { kind: "fault", status, fatal: true, bytes: this.#held };
  }
}

interface Step {
  readonly item: WireRequest | WireFault | null;
  readonly left: Buffer;
}

const NOTHING = Buffer.alloc(0);
