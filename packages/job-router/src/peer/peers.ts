/** All our peers: a connection to each, and what follows from their answers and their silence. */
import { type Command, type GetJobs, SHARDS } from "@sluice/job-queue";
import type { Address, RouterPorts } from "../ports.ts";
import type { Attempt, Forwarder } from "../routing.ts";
import type { SeenTerm } from "../seats/sight.ts";
import type { TypesFrame } from "./frames.ts";
import { Link, type LinkAnswer } from "./link.ts";
import { Suspicion } from "./suspicion.ts";
import { newNonce } from "./trust.ts";

export interface PeersPorts extends Pick<RouterPorts, "apiId" | "later" | "log" | "clock"> {
  readonly secret: string | null;
  /** Whether this term is over, as far as can be said. */
  readonly isOver: (shard: number, term: number) => boolean;
  readonly depose: (shard: number, seen: SeenTerm) => void;
  readonly onTypes: (peerId: string, frame: TypesFrame) => void;
  readonly onUp: () => void;
  readonly onDown: (peerId: string) => void;
}

/** An owner that has left may still have an answer on its way. */
const ABANDON_MS = 1_000;
export const NOT_THE_OWNER = "another process owns the shard";
/** An owner that cannot reach its tree: as good as one that does not answer. */
export const CUT_OFF = "the owner cannot reach its tree";

const UNREACHABLE: Attempt = { kind: "not-done", why: "the owner has no address" };

export class Peers implements Forwarder {
  readonly #ports: PeersPorts;
  readonly #links = new Map<string, Link>();
  readonly #suspicions = Array.from({ length: SHARDS }, () => new Suspicion());
  #members: ReadonlyMap<string, Address> = new Map();
  readonly #timers = new Set<() => void>();

  constructor(ports: PeersPorts) {
    this.#ports = ports;
  }

  /** Whether we could reach it just now. */
  isUp(peerId: string): boolean {
    return this.#links.get(peerId)?.isUp === true;
  }

  /** Who is there, and who owns what, may have changed. */
  review(members: ReadonlyMap<string, Address>): void {
    this.#members = members;
    for (const [peerId, link] of [...this.#links]) {
      const address = members.get(peerId);
      // Who leaves first says so, then answers what it was asked, then leaves its shards.
      if (address === undefined) this.#soon(() => this.#forget(peerId, link));
      else if (address.host !== link.address.host || address.port !== link.address.port) this.#hangUp(peerId, link);
    }
    for (const [peerId, address] of members)
      if (peerId !== this.#ports.apiId && !this.#links.has(peerId))
        this.#links.set(peerId, this.#call(peerId, address));
    this.#abandonSoon();
  }

  async ask(shard: number, seen: SeenTerm, command: Command): Promise<Attempt> {
    const link = this.#links.get(seen.apiId);
    return link === undefined ? UNREACHABLE : this.#judge(shard, seen, await link.ask(shard, seen.term, command));
  }

  async wait(shard: number, seen: SeenTerm, command: GetJobs, ms: number, gone: AbortSignal): Promise<Attempt> {
    const link = this.#links.get(seen.apiId);
    if (link === undefined) return UNREACHABLE;
    return this.#judge(shard, seen, await link.wait(shard, seen.term, command, ms, gone));
  }

  /** False: it cannot be reached just now. */
  askFor(shard: number, seen: SeenTerm): boolean {
    return this.#links.get(seen.apiId)?.askFor(shard, seen.term) === true;
  }

  close(): void {
    for (const stop of this.#timers) stop();
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  #call(peerId: string, address: Address): Link {
    const { apiId, secret, later, log, onTypes, onUp, onDown } = this.#ports;
    return new Link({
      apiId,
      // A new one for each: its numbers begin again, and who remembers the old ones must not take them for those.
      instance: newNonce(),
      secret,
      peerId,
      address,
      later,
      log,
      onTypes: (frame) => onTypes(peerId, frame),
      onTimeout: (shard, term) => this.#suspect(shard, { term, apiId: peerId }),
      onUp,
      onDown: () => onDown(peerId),
    });
  }

  #soon(act: () => void): void {
    const stop = this.#ports.later(ABANDON_MS, () => {
      this.#timers.delete(stop);
      act();
    });
    this.#timers.add(stop);
  }

  #forget(peerId: string, link: Link): void {
    if (!this.#members.has(peerId) && this.#links.get(peerId) === link) this.#hangUp(peerId, link);
  }

  #hangUp(peerId: string, link: Link): void {
    this.#links.delete(peerId);
    link.close();
    this.#ports.onDown(peerId);
  }

  #judge(shard: number, seen: SeenTerm, answer: LinkAnswer): Attempt {
    if (answer.kind === "dead") {
      this.#ports.depose(shard, seen);
      return answer.wasSent ? { kind: "unknown" } : { kind: "not-done", why: "the owner does not answer" };
    }
    if (answer.kind === "not-done" && answer.why === CUT_OFF) this.#suspect(shard, seen);
    else this.#suspicions[shard]?.clear(seen.term);
    return answer;
  }

  #suspect(shard: number, seen: SeenTerm): void {
    const isOneTooMany = this.#suspicions[shard]?.note(seen.term, this.#ports.clock.monotonicMs());
    if (isOneTooMany === true) this.#ports.depose(shard, seen);
  }

  #abandonSoon(): void {
    const { isOver } = this.#ports;
    const links = [...this.#links.values()];
    const over = new Set(
      links
        .flatMap((link) => link.openTerms())
        .filter(([shard, term]) => isOver(shard, term))
        .map(String),
    );
    if (over.size === 0) return;
    this.#soon(() => {
      for (const link of links) link.abandon((shard, term) => over.has(String([shard, term])));
    });
  }
}
