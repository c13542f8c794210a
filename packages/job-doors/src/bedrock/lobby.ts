/**
 * Who may stay connected. A connection is a stranger's until one of its requests is accepted: strangers make room for
 * others, the first to come goes first, and have little memory together. Then it counts for its tenant, which has a bound.
 */
import type { Status } from "@sluice/job-queue";

export interface LobbyLimits {
  readonly connections: number;
  readonly perTenant: number;
  /** Of requests that are not yet accepted, of all strangers together. */
  readonly strangersBytes: number;
}

export const LOBBY_LIMITS: LobbyLimits = {
  connections: 1_000,
  perTenant: 250,
  strangersBytes: 32 * 1024 * 1024,
};

export interface Guest {
  /** Answers so, and ends the connection. */
  turnAway(status: Status): void;
}

const AGAIN_MS = 15_000;
const FULL: Status = { code: 503, text: "Too many connections: try again later", retryAfterMs: AGAIN_MS };
const MADE_ROOM: Status = { code: 503, text: "No request was accepted here, and others wait to connect" };
const TOO_MUCH: Status = { code: 413, text: "Too large before a request was accepted: send a small one first" };
const tenantFull = (tenant: string, most: number): Status => ({
  code: 429,
  text: `Tenant ${tenant} has ${most} connections: that is the limit`,
  retryAfterMs: AGAIN_MS,
});

export class Lobby {
  readonly #limits: LobbyLimits;
  /** With the bytes they hold; the first to come is the first. */
  readonly #strangers = new Map<Guest, number>();
  readonly #tenants = new Map<Guest, string>();
  readonly #ofTenant = new Map<string, number>();
  #strangersBytes = 0;

  constructor(limits: LobbyLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#strangers.size + this.#tenants.size;
  }

  enter(guest: Guest): void {
    if (this.size >= this.#limits.connections) {
      const [first] = this.#strangers.keys();
      if (first === undefined) {
        guest.turnAway(FULL);
        return;
      }
      this.leave(first);
      first.turnAway(MADE_ROOM);
    }
    this.#strangers.set(guest, 0);
  }

  /** How much of requests a connection holds. */
  hold(guest: Guest, bytes: number): void {
    const before = this.#strangers.get(guest);
    if (before === undefined) return;
    this.#strangers.set(guest, bytes);
    this.#strangersBytes += bytes - before;
    if (this.#strangersBytes > this.#limits.strangersBytes) guest.turnAway(TOO_MUCH);
  }

  isStranger(guest: Guest): boolean {
    return this.#strangers.has(guest);
  }

  /** A request of this tenant was accepted. Why it cannot be carried out, or null. */
  admit(guest: Guest, tenant: string): Status | null {
    if (this.#tenants.get(guest) === tenant) return null;
    const { perTenant } = this.#limits;
    const there = this.#ofTenant.get(tenant) ?? 0;
    if (there >= perTenant) return tenantFull(tenant, perTenant);
    this.leave(guest);
    this.#tenants.set(guest, tenant);
    this.#ofTenant.set(tenant, there + 1);
    return null;
  }

  leave(guest: Guest): void {
    this.#strangersBytes -= this.#strangers.get(guest) ?? 0;
    this.#strangers.delete(guest);
    const tenant = this.#tenants.get(guest);
    if (tenant === undefined) return;
    this.#tenants.delete(guest);
    const left = (this.#ofTenant.get(tenant) ?? 1) - 1;
    if (left > 0) this.#ofTenant.set(tenant, left);
    else this.#ofTenant.delete(tenant);
  }
}
