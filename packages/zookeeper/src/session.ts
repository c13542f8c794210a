import type { Acl, AclOf } from "./acl.ts";
import { allOf } from "./all-of.ts";
import type { OperationName } from "./hooks.ts";
import type { Handshake } from "./link.ts";
import { badPath, opProblem, pathProblem, rooted } from "./paths.ts";
import type {
  Answer,
  EachAnswer,
  Fault,
  MultiAnswer,
  Node,
  NodeAcl,
  Op,
  Read,
  ReadAnswer,
  Session,
  SessionState,
  Stat,
  Watch,
} from "./port.ts";
import { ServerClock } from "./server-clock.ts";
import { SessionLife, type LifeParts } from "./session-life.ts";
import { WatchTable } from "./watches.ts";
import { ERR } from "./wire/codes.ts";
import {
  decodeAcl,
  decodeChildren,
  decodeMulti,
  decodeMultiRead,
  decodeNode,
  decodeStat,
  type ReplyHeader,
  type WatchEvent,
} from "./wire/replies.ts";
import {
  encodeExists,
  encodeGetAcl,
  encodeGetChildren,
  encodeGetData,
  encodeMulti,
  encodeMultiRead,
  encodeSetAcl,
  encodeSetWatches,
  type EncodedRequest,
  type WatchKind,
} from "./wire/requests.ts";
import { inRequests, pathOf } from "./read-requests.ts";

export interface SessionParts extends LifeParts {
  /** The chroot; "" for none. */
  readonly root: string;
  readonly aclOf: AclOf;
}

type Children = Answer<{ readonly names: readonly string[]; readonly stat: Stat }>;

const asAnswer = (fault: Fault): Fault => fault;
const asMultiAnswer = (fault: Fault): MultiAnswer => ({ ...fault, index: -1 });

/** The port over a link: what each call sends and what its answer means. When it may be sent is for SessionLife. */
export class LiveSession implements Session {
  readonly id: bigint;
  readonly #root: string;
  readonly aclOf: AclOf;
  readonly #life: SessionLife;
  readonly #watches = new WatchTable();
  readonly #serverClock: ServerClock;
  #barrier: Promise<boolean> | null = null;
  #nextBarrier: Promise<boolean> | null = null;

  constructor(parts: SessionParts) {
    this.id = parts.handshake.sessionId;
    this.#root = parts.root;
    this.aclOf = parts.aclOf;
    this.#life = new SessionLife(parts);
    this.#serverClock = new ServerClock(parts.clock);
    this.lost.addEventListener("abort", () => this.#watches.clear());
  }

  get timeoutMs(): number {
    return this.#life.timeoutMs;
  }

  get state(): SessionState {
    return this.#life.state;
  }

  get lost(): AbortSignal {
    return this.#life.lost;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.#life.onState(listener);
  }

  untilConnected(): Promise<boolean> {
    return this.#life.untilConnected();
  }

  serverNowMs(): number {
    return this.#serverClock.nowMs();
  }

  get(path: string, watch?: Watch): Promise<Answer<Node>> {
    const full = rooted(this.#root, path);
    return this.#read("get", path, encodeGetData(full, watch !== undefined), (reply) => {
      if (reply.err !== ERR.ok) return this.#life.fault(reply, path);
      this.#arm("data", full, watch);
      return { ok: true, value: decodeNode(reply.body) };
    });
  }

  exists(path: string, watch?: Watch): Promise<Answer<Stat | null>> {
    const full = rooted(this.#root, path);
    return this.#read<Answer<Stat | null>>("exists", path, encodeExists(full, watch !== undefined), (reply) => {
      if (reply.err !== ERR.ok && reply.err !== ERR.noNode) return this.#life.fault(reply, path);
      const value = reply.err === ERR.ok ? decodeStat(reply.body) : null;
      this.#arm(value === null ? "exists" : "data", full, watch);
      return { ok: true, value };
    });
  }

  children(path: string, watch?: Watch): Promise<Children> {
    const full = rooted(this.#root, path);
    return this.#read<Children>("children", path, encodeGetChildren(full, watch !== undefined), (reply) => {
      if (reply.err !== ERR.ok) return this.#life.fault(reply, path);
      this.#arm("children", full, watch);
      return { ok: true, value: decodeChildren(reply.body) };
    });
  }

  async readMany(reads: readonly Read[]): Promise<Answer<readonly ReadAnswer[]>> {
    const answer = await this.readEach(reads);
    return answer.ok ? allOf(reads, answer.value) : answer;
  }

  async readEach(reads: readonly Read[]): Promise<Answer<readonly EachAnswer[]>> {
    for (const read of reads) {
      const problem = pathProblem(pathOf(read));
      if (problem !== null) return badPath(pathOf(read), problem);
    }
    const value: EachAnswer[] = [];
    for (const some of inRequests(reads, this.#root.length)) {
      const answer = await this.#readSome(some);
      if (!answer.ok) return answer;
      for (const each of answer.value) value.push(each);
    }
    return { ok: true, value };
  }

  #readSome(reads: readonly Read[]): Promise<Answer<readonly EachAnswer[]>> {
    return this.#life.ask<Answer<readonly EachAnswer[]>>({
      operation: "readMany",
      request: encodeMultiRead(reads, this.#root),
      onSilence: asAnswer,
      onReply: (reply) =>
        reply.err === ERR.ok
          ? { ok: true, value: decodeMultiRead(reply.body) }
          : this.#life.fault(reply, `${reads.length} reads`),
    });
  }

  multi(ops: readonly Op[]): Promise<MultiAnswer> {
    for (const [index, op] of ops.entries()) {
      const problem = opProblem(op);
      if (problem !== null) return Promise.resolve({ ...badPath(op.path, problem), index });
    }
    const askedMs = this.#life.nowMs();
    return this.#life.ask<MultiAnswer>({
      operation: "multi",
      request: encodeMulti(ops, this.#root, this.aclOf),
      onSilence: asMultiAnswer,
      onReply: (reply) => {
        if (reply.err !== ERR.ok) return asMultiAnswer(this.#life.fault(reply, `multi of ${ops.length}`));
        const answer = decodeMulti(reply.body, reply.zxid, ops);
        const stat = answer.ok ? answer.stats.find((each) => each !== null) : undefined;
        if (stat !== undefined) this.#serverClock.sample(stat.mtime, askedMs, this.#life.nowMs());
        return answer;
      },
    });
  }

  getAcl(path: string): Promise<Answer<NodeAcl>> {
    return this.#read<Answer<NodeAcl>>("getAcl", path, encodeGetAcl(rooted(this.#root, path)), (reply) =>
      reply.err === ERR.ok ? { ok: true, value: decodeAcl(reply.body) } : this.#life.fault(reply, path),
    );
  }

  setAcl(path: string, acl: readonly Acl[], version: number): Promise<Answer<null>> {
    if (version < 0) return Promise.resolve(badPath(path, `has version ${version}`));
    const request = encodeSetAcl(rooted(this.#root, path), acl, version);
    return this.#read<Answer<null>>("setAcl", path, request, (reply) =>
      reply.err === ERR.ok ? { ok: true, value: null } : this.#life.fault(reply, path),
    );
  }

  /** One at a time; who asks while one is under way waits for the next, since his writes may be younger than this one. */
  barrier(): Promise<boolean> {
    if (this.#barrier === null) {
      this.#barrier = this.#sendBarrier().finally(() => (this.#barrier = null));
      return this.#barrier;
    }
    this.#nextBarrier ??= this.#barrier.then(() => {
      this.#nextBarrier = null;
      return this.barrier();
    });
    return this.#nextBarrier;
  }

  close(): Promise<void> {
    return this.#life.close();
  }

  // What follows is called by the link.

  greeting(lastZxid: bigint): readonly Buffer[] {
    return encodeSetWatches(lastZxid, this.#watches.paths());
  }

  connected(handshake: Handshake): void {
    this.#life.connected(handshake);
  }

  heard(sentAtMs: number): void {
    this.#life.heard(sentAtMs);
  }

  notified(event: WatchEvent): void {
    this.#life.mindTheGap();
    this.#watches.fire(event);
  }

  disconnected(why: string): void {
    this.#life.disconnected(why);
  }

  refused(why: string): void {
    this.#life.refused(why);
  }

  /** Only when the answer is here: a server that did not answer may not have the watch. */
  #arm(kind: WatchKind, path: string, watch: Watch | undefined): void {
    if (watch !== undefined) this.#watches.add(kind, path, watch);
  }

  #read<T extends { readonly ok: true } | Fault>(
    operation: OperationName,
    path: string,
    request: EncodedRequest,
    onReply: (reply: ReplyHeader) => T | Fault,
  ): Promise<T | Fault> {
    const problem = pathProblem(path);
    if (problem !== null) return Promise.resolve(badPath(path, problem));
    return this.#life.ask<T | Fault>({ operation, request, onReply, onSilence: asAnswer });
  }

  /** Any answer will do, a refusal too: it comes after everything that was sent before. */
  async #sendBarrier(): Promise<boolean> {
    const answer = await this.#life.ask<Answer<null>>({
      operation: "barrier",
      request: encodeMulti([{ op: "check", path: "/" }], this.#root, this.aclOf),
      onSilence: asAnswer,
      onReply: (reply) =>
        reply.err === ERR.sessionExpired ? this.#life.fault(reply, "barrier") : { ok: true, value: null },
    });
    return answer.ok;
  }
}
