/** What is said over one connection: a request in, an answer out. */
import {
  type Caller,
  type Command,
  fieldsOf,
  isNestedDeeper,
  isStatus,
  parseJobId,
  readCommand,
  type Reply,
  REQUEST_DEPTH,
  type Status,
  STATUS,
  WORKER_BYTES,
} from "@sluice/job-queue";
import { type Answer, giveBack, type Later, type QueuePort, statusOnly, UNKNOWN_OUTCOME } from "../queue-port.ts";
import { type Hear, heardQueue } from "../heard.ts";
import { isPutOff, putOff } from "../put-off.ts";
import { shownQueue } from "../shown.ts";
import { type Still, watchedQueue } from "../still.ts";
import type { Errands } from "./errands.ts";
import { HeldLeases } from "./held-leases.ts";
import type { Shown } from "./json-printer.ts";
import { type WireReply, wireReplyOf } from "./reply-printer.ts";
import type { WireRequest } from "./request-parser.ts";
import { readTiming, type Timing } from "./timing.ts";

/** `caller`: the name of whoever showed a token; `still`: whether that token is still good. */
export type Admission =
  { readonly tenant: string; readonly caller?: string; readonly still?: Still } | { readonly refused: Status };

export interface WirePorts {
  readonly queue: QueuePort;
  readonly errands: Errands;
  readonly now: () => number;
  readonly later: Later;
  /** Whose request this is, or why it is nobody's. */
  readonly admit: (request: WireRequest, peer: Peer) => Admission | Promise<Admission>;
  /** Told of jobs that come, are taken, end and go. */
  readonly hear: Hear;
  /** A mistake of ours; the peer learns less. */
  readonly onError: (error: unknown) => void;
}

export interface Peer {
  /** Stands in the records of the jobs it takes. */
  readonly name: string;
  readonly address: string;
  /** From this machine. */
  readonly isNear: boolean;
}

/** What becomes of the connection meanwhile. */
export interface Line {
  /** Nothing more will come: the peer waits for answers, but not for jobs to appear. */
  readonly ended: AbortSignal;
  /** No answer can be delivered. */
  readonly closed: AbortSignal;
  /** A request of this tenant came over it. Why it is not carried out, or null. */
  readonly admitted: (tenant: string) => Status | null;
}

const UNAUTHORIZED: Status = { code: 401, text: "Unauthorized" };
const LATE = statusOnly({ code: 555, text: "Timeout" });

const ONLY_NEAR: readonly string[] = ["crashbedrockjob", "clearcrashedbedrockjobs"];
const SELECT = /^select\s+\*\s+from\s+jobs$/i;

/** Whose request it is, and the queue as it hears them. */
interface Heard {
  readonly tenant: string;
  readonly queue: QueuePort;
  readonly still: Still;
}

/** Of whoever needs no token. */
const ALWAYS: Still = () => Promise.resolve(true);

export class Conversation {
  readonly leases = new HeldLeases();
  readonly #ports: WirePorts;
  readonly #peer: Peer;

  constructor(ports: WirePorts, peer: Peer) {
    this.#ports = ports;
    this.#peer = peer;
  }

  async answer(request: WireRequest, line: Line): Promise<WireReply> {
    const admission = await this.#ports.admit(request, this.#peer);
    const shown: Shown = request.headers.get("fields")?.toLowerCase() === "all" ? "all" : "some";
    if ("refused" in admission) return wireReplyOf(statusOnly(admission.refused), shown);
    const { tenant, caller = this.#peer.name, still = ALWAYS } = admission;
    const refusal = line.admitted(tenant);
    if (refusal !== null) return wireReplyOf(statusOnly(refusal), shown);
    const queue = heardQueue(watchedQueue(shownQueue(this.#ports.queue), still), this.#ports.hear, {
      door: "tcp",
      caller,
    });
    return wireReplyOf(await this.#reply(request, { tenant, queue, still }, line), shown);
  }

  async #reply(request: WireRequest, { tenant, queue, still }: Heard, line: Line): Promise<Reply> {
    const command = this.#read(request, tenant);
    if (isStatus(command)) return statusOnly(command);
    const timing = readTiming(request.headers, this.#ports.now());
    if (isStatus(timing)) return statusOnly(timing);
    if (isPutOff(timing)) return putOff({ ...this.#ports, queue, still }, tenant, command, timing);
    return this.#carryOut({ tenant, queue }, command, timing, line);
  }

  #read({ verb, headers, content }: WireRequest, tenant: string): Command | Status {
    const name = verb.toLowerCase();
    if (ONLY_NEAR.includes(name) && !this.#peer.isNear) return UNAUTHORIZED;
    if (isNestedDeeper(content, REQUEST_DEPTH)) return STATUS.tooDeep;
    if (content !== "" && !isObject(content)) return STATUS.invalidJson;
    const given = content === "" ? [] : fieldsOf(content);
    const lowered = given.map(([key, text]) => [key.toLowerCase(), text] as const);
    const fields: Record<string, string> = { ...Object.fromEntries(lowered), ...Object.fromEntries(headers) };
    if (name === "query") return readQuery(fields["query"] ?? "", fields["after"] ?? "", tenant);
    const caller = callerIn(fields, this.#peer.name);
    if (isStatus(caller)) return caller;
    const command = readCommand(verb, fields, { tenant, caller });
    return isStatus(command) ? command : this.leases.withToken(command);
  }

  async #carryOut(
    { tenant, queue }: Pick<Heard, "tenant" | "queue">,
    command: Command,
    timing: Timing,
    line: Line,
  ): Promise<Reply> {
    const asked =
      command.verb === "GetJobs" && timing.wait
        ? queue.wait(tenant, command, timing.timeoutMs, line.ended)
        : this.#inTime(queue.ask(tenant, command), timing.timeoutMs, { tenant, queue });
    const answer = await asked;
    if (answer === null || answer === LATE) this.leases.doubt(command);
    if (answer === null) return statusOnly(UNKNOWN_OUTCOME);
    if (line.closed.aborted) await giveBack(queue, tenant, answer);
    else this.leases.note(tenant, command, answer);
    return answer;
  }

  /** Jobs that come after the time is over are given back. */
  async #inTime(
    asked: Promise<Answer>,
    timeoutMs: number,
    { tenant, queue }: Pick<Heard, "tenant" | "queue">,
  ): Promise<Answer> {
    let stop: () => void = () => undefined;
    const late = new Promise<Reply>((resolve) => {
      stop = this.#ports.later(timeoutMs, () => resolve(LATE));
    });
    const answer = await Promise.race([asked, late]);
    stop();
    if (answer === LATE) this.#ports.errands.start(async () => giveBack(queue, tenant, await asked));
    return answer;
  }
}

/** The header `worker` names a caller over all its connections; without it a job is taken in the name of the connection. */
function callerIn({ worker = "" }: Readonly<Record<string, string>>, connection: string): Caller | Status {
  if (worker === "") return { kind: "connection", worker: connection };
  if (Buffer.byteLength(worker) > WORKER_BYTES || /\p{Cc}/u.test(worker)) return STATUS.malformed("worker");
  return { kind: "connection", worker, isNamed: true };
}

function readQuery(query: string, rawAfter: string, tenant: string): Command | Status {
  if (query === "") return STATUS.missing("query");
  const text = query.trim();
  const statement = (text.endsWith(";") ? text.slice(0, -1) : text).trimEnd();
  if (!SELECT.test(statement)) return STATUS.malformed("query");
  const after = rawAfter === "" ? 0 : parseJobId(rawAfter);
  return after === null ? STATUS.malformed("after") : { verb: "ListJobs", tenant, after };
}

function isObject(content: string): boolean {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
