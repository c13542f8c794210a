/**
 * The leases of the jobs that were given over one connection. A caller of this protocol shows no token; the connection
 * remembers it for them. Past ones are kept in mind too: a late end must be refused, not taken for a stranger's. Only an end
 * whose first answer was not certain may be said again: any other that comes after the run's end does nothing, and is told so.
 */
import type { Command, Reply } from "@sluice/job-queue";
import type { QueuePort } from "../queue-port.ts";

interface HeldLease {
  readonly tenant: string;
  readonly token: string;
}

interface PastLease {
  readonly token: string;
  /** By its holder, who may well change the job afterwards. */
  readonly isEnded: boolean;
}

/** Of one connection; the oldest is forgotten. */
const PAST_REMEMBERED = 10_000;

export class HeldLeases {
  readonly #held = new Map<number, HeldLease>();
  readonly #past = new Map<number, PastLease>();
  /** Runs that somebody here tried to end, without learning what came of it. */
  readonly #inDoubt = new Set<string>();

  get size(): number {
    return this.#held.size;
  }

  entries(): Iterable<readonly [number, HeldLease]> {
    return this.#held.entries();
  }

  /** The same command with the token that this connection was given. */
  withToken(command: Command): Command {
    if (!("lease" in command) || command.lease !== null) return command;
    const token = this.#held.get(command.id)?.token ?? this.#pastToken(command);
    if (token === undefined) return command;
    if (!isEnd(command)) return { ...command, lease: token };
    return { ...command, lease: token, remembered: !this.#inDoubt.has(token) };
  }

  /** It was asked, and nobody knows what came of it. */
  doubt(command: Command): void {
    if (!isEnd(command) || command.lease === null) return;
    this.#inDoubt.add(command.lease);
    forgetOldest(this.#inDoubt, PAST_REMEMBERED);
  }

  /** Takes note of what an answer gave and what a command ended. */
  note(tenant: string, command: Command, { status, content }: Reply): void {
    if (content.kind === "taken") {
      for (const { view, token } of content.jobs) {
        this.#past.delete(view.jobID);
        this.#held.set(view.jobID, { tenant, token });
      }
    }
    if (isEnd(command) && status.code === 200 && this.#held.get(command.id)?.token === command.lease)
      this.#part(command.id, true);
  }

  lose(ids: readonly number[]): void {
    for (const id of ids) this.#part(id, false);
  }

  #pastToken({ id, verb }: Extract<Command, { readonly lease: string | null }>): string | undefined {
    const past = this.#past.get(id);
    return past?.isEnded === true && verb === "UpdateJob" ? undefined : past?.token;
  }

  #part(id: number, isEnded: boolean): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    this.#past.delete(id);
    this.#past.set(id, { token: held.token, isEnded });
    forgetOldest(this.#past, PAST_REMEMBERED);
  }
}

type End = Extract<Command, { readonly verb: "FinishJob" | "RetryJob" | "FailJob" }>;
const isEnd = (command: Command): command is End =>
  command.verb === "FinishJob" || command.verb === "RetryJob" || command.verb === "FailJob";

function forgetOldest<K>(
  kept: { readonly size: number; keys(): Iterable<K>; delete(key: K): boolean },
  most: number,
): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) break;
    kept.delete(oldest);
  }
}

/** One command per tenant, whatever the number of connections. */
export async function renewAll(queue: QueuePort, connections: readonly HeldLeases[]): Promise<void> {
  const byTenant = new Map<string, { id: number; token: string }[]>();
  for (const leases of connections) {
    for (const [id, { tenant, token }] of leases.entries()) {
      const list = byTenant.get(tenant) ?? [];
      list.push({ id, token });
      byTenant.set(tenant, list);
    }
  }
  await Promise.all(
    [...byTenant].map(async ([tenant, leases]) => {
      const answer = await queue.ask(tenant, { verb: "RenewLeases", tenant, leases });
      if (answer?.content.kind !== "lost") return;
      const lost = new Map(leases.map(({ id, token }) => [id, token]));
      for (const id of lost.keys()) if (!answer.content.ids.includes(id)) lost.delete(id);
      for (const connection of connections) loseAsked(connection, lost);
    }),
  );
}

/** A job that was taken anew while we asked is not lost. */
function loseAsked(connection: HeldLeases, lost: ReadonlyMap<number, string>): void {
  if (lost.size === 0) return;
  const ids = [...connection.entries()].filter(([id, { token }]) => lost.get(id) === token).map(([id]) => id);
  connection.lose(ids);
}
