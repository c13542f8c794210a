/** What one ensemble shows: which processes serve the queue, and which of them owns which shard. */
import { parseTermName, paths } from "@sluice/job-queue";
import type { Answer, Session } from "@sluice/zookeeper";
import { z } from "zod";
import type { Address } from "../ports.ts";

export interface SeenTerm {
  readonly term: number;
  readonly apiId: string;
}

export interface Sight {
  readonly members: ReadonlyMap<string, Address>;
  readonly terms: ReadonlyMap<number, SeenTerm>;
}

export const NO_SIGHT: Sight = { members: new Map(), terms: new Map() };

const AddressSchema = z.object({ host: z.string().min(1), port: z.number().int().min(1).max(65_535) });
export const encodeAddress = ({ host, port }: Address): Buffer => Buffer.from(JSON.stringify({ host, port }));

/** Keeps looking for as long as the session lives. */
export class Looker {
  readonly #session: Session;
  readonly #onSight: (sight: Sight) => void;
  readonly #onError: (error: unknown) => void;
  /** A term's node is never written: one look at each is enough. */
  readonly #owners = new Map<string, string>();
  #looking = false;
  #again = false;

  constructor(session: Session, onSight: (sight: Sight) => void, onError: (error: unknown) => void) {
    this.#onError = onError;
    this.#session = session;
    this.#onSight = onSight;
  }

  look(): void {
    this.#again = true;
    if (this.#looking) return;
    this.#run().catch((error: unknown) => {
      // The next change is looked at again.
      this.#looking = false;
      this.#onError(error);
    });
  }

  async #run(): Promise<void> {
    this.#looking = true;
    while (this.#again && !this.#session.lost.aborted) {
      this.#again = false;
      const sight = await this.#see();
      if (sight !== null) this.#onSight(sight);
      else if (await this.#session.untilConnected()) this.#again = true;
    }
    this.#looking = false;
  }

  async #see(): Promise<Sight | null> {
    const onChange = (): void => this.look();
    const [apis, terms] = await Promise.all([
      this.#session.children(paths.apis, onChange),
      this.#session.children(paths.terms, onChange),
    ]);
    if (!apis.ok || !terms.ok) return null;
    const [members, owners] = await Promise.all([
      this.#read(apis.value.names.map((name) => paths.api(name))),
      this.#ownersOf(terms.value.names),
    ]);
    if (members === null || owners === null) return null;
    return {
      members: new Map(
        apis.value.names.flatMap((name, n) => {
          const address = addressOf(members[n] ?? null);
          return address === null ? [] : [[name, address] as const];
        }),
      ),
      terms: owners,
    };
  }

  async #ownersOf(names: readonly string[]): Promise<ReadonlyMap<number, SeenTerm> | null> {
    for (const known of [...this.#owners.keys()]) if (!names.includes(known)) this.#owners.delete(known);
    const unknown = names.filter((name) => !this.#owners.has(name));
    const read = await this.#read(unknown.map((name) => `${paths.terms}/${name}`));
    if (read === null) return null;
    for (const [n, name] of unknown.entries()) {
      const data = read[n];
      if (data != null) this.#owners.set(name, data.toString("utf8"));
    }
    const terms = new Map<number, SeenTerm>();
    for (const [name, apiId] of this.#owners) {
      const parsed = parseTermName(name);
      if (parsed !== null) terms.set(parsed.shard, { term: parsed.term, apiId });
    }
    return terms;
  }

  /** Null in the list for a node that has gone meanwhile; the watch will tell. */
  async #read(asked: readonly string[]): Promise<readonly (Buffer | null)[] | null> {
    if (asked.length === 0) return [];
    const answer = await this.#session.readMany(asked.map((get) => ({ get })));
    return answer.ok ? answer.value.map((read) => (read.kind === "node" ? read.node.data : null)) : null;
  }
}

function addressOf(data: Buffer | null): Address | null {
  if (data === null) return null;
  try {
    return AddressSchema.safeParse(JSON.parse(data.toString("utf8"))).data ?? null;
  } catch {
    return null;
  }
}

/** Ours, also after an earlier life of this process left its node behind. */
export async function announce(session: Session, apiId: string, address: Address): Promise<string | null> {
  const path = paths.api(apiId);
  const create = { op: "create", path, data: encodeAddress(address), ephemeral: true } as const;
  const made = await session.multi([create]);
  if (made.ok) return null;
  if (made.code !== "NODE_EXISTS") return problemOf(made);
  const found = await session.exists(path);
  if (!found.ok) return problemOf(found);
  if (found.value === null) return "it went while we looked";
  if (found.value.ephemeralOwner === session.id) return null;
  const replaced = await session.multi([{ op: "delete", path, version: found.value.version }, create]);
  return replaced.ok ? null : problemOf(replaced);
}

/** A better sign than the end of the session: nobody asks us any more, and nobody thinks that we died. */
export async function withdraw(session: Session, apiId: string): Promise<void> {
  const path = paths.api(apiId);
  const found = await session.exists(path);
  if (!found.ok || found.value?.ephemeralOwner !== session.id) return;
  await session.multi([{ op: "delete", path, version: found.value.version }]);
}

const problemOf = ({ code, detail }: Exclude<Answer<never>, { ok: true }>): string => `${code}: ${detail}`;
