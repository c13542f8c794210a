/** How many connections a process and one client address have open. */
import { ipKeyGenerator } from "express-rate-limit";

import { type Problem, problem } from "../problem.ts";

export interface ConnectionLimits {
  readonly max: number;
  readonly perAddress: number;
  /** Of proxies whose connections are those of all their clients: they count for the process alone. */
  readonly isProxy: (address: string) => boolean;
}

export type Admission =
  | { readonly ok: true; readonly release: () => void }
  | { readonly ok: false; readonly reason: RefusedConnection; readonly problem: Problem };

export type RefusedConnection = "address" | "process";

const RETRY_SECONDS = 5;

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #perAddress = new Map<string, number>();
  #open = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get open(): number {
    return this.#open;
  }

  admit(remoteAddress: string): Admission {
    const { max, perAddress, isProxy } = this.#limits;
    const address = plainAddress(remoteAddress);
    const key = isProxy(address) ? null : ipKeyGenerator(address);
    if (this.#open >= max)
      return refusal(
        "process",
        problem("UNAVAILABLE", "too many connections are open", { retryAfterSeconds: RETRY_SECONDS }),
      );
    const own = key === null ? 0 : (this.#perAddress.get(key) ?? 0);
    if (key !== null && own >= perAddress) {
      const detail = `your address has ${perAddress} connections open, which is the limit: close some, or reuse them`;
      return refusal("address", problem("TOO_MANY_REQUESTS", detail, { retryAfterSeconds: RETRY_SECONDS }));
    }
    this.#open += 1;
    if (key !== null) this.#perAddress.set(key, own + 1);
    return { ok: true, release: once(() => this.#release(key)) };
  }

  #release(key: string | null): void {
    this.#open -= 1;
    if (key === null) return;
    const left = (this.#perAddress.get(key) ?? 1) - 1;
    if (left === 0) this.#perAddress.delete(key);
    else this.#perAddress.set(key, left);
  }
}

const refusal = (reason: RefusedConnection, found: Problem): Admission => ({ ok: false, reason, problem: found });

/** A socket of both families names an IPv4 client in IPv6; as such all of IPv4 would be one network. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}
