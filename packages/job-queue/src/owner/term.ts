/**
 * A term: one process's ownership of a shard. It is a node of its own path, so that nothing of an older term fits; it is
 * never written, so that another process can delete it whatever its owner is doing. Beside it stands a counter whose
 * version is the number of transactions of the term: their order, and the truth about a lost answer.
 */
import type { Op, Session } from "@sluice/zookeeper";
import { parseTermName, paths } from "../paths.ts";
import { type Ids, records } from "../records.ts";
import { EMPTY } from "./tree.ts";

export interface Term {
  readonly shard: number;
  readonly term: number;
  readonly ids: Ids;
  /** Of the node `ids`, now. */
  readonly idsVersion: number;
}

export type Taking =
  | { readonly ok: true; readonly term: Term }
  /** `isBroken`: nobody can take it as it is, so that trying again at once helps nobody. */
  | { readonly ok: false; readonly why: string; readonly isBroken?: true };

/** What every transaction of a term begins with. */
export const fence = ({ shard, term }: Pick<Term, "shard" | "term">, sent: number): readonly Op[] => [
  { op: "check", path: paths.term(shard, term), version: 0 },
  { op: "set", path: paths.counter(shard, term), data: EMPTY, version: sent },
];

/**
 * Also from a living owner: what that one sends from now on is refused. `from`: only from this term, or with null only
 * when nobody has the shard, so that who decided by an older look deposes nobody else.
 */
export async function takeTerm(session: Session, shard: number, apiId: string, from?: number | null): Promise<Taking> {
  const [found, terms] = await Promise.all([session.get(paths.ids(shard)), session.children(paths.terms)]);
  if (!found.ok) return { ok: false, why: `${found.code}: ${found.detail}` };
  if (!terms.ok) return { ok: false, why: `${terms.code}: ${terms.detail}` };
  const ids = records.ids.decode(found.value.data);
  // Without it nobody knows which ids and tokens were given before: to guess could give one twice.
  if (!ids.ok) return { ok: false, why: ids.problem, isBroken: true };
  const next: Ids = { next: ids.value.next, term: ids.value.term + 1 };
  const { version } = found.value.stat;
  const old = terms.value.names.flatMap((name) => parseTermName(name) ?? []).filter((term) => term.shard === shard);
  if (from !== undefined && (old[0]?.term ?? null) !== from)
    return { ok: false, why: `it is in term ${old[0]?.term ?? "none"}` };
  const answer = await session.multi([
    { op: "set", path: paths.ids(shard), data: records.ids.encode(next), version },
    ...old.map(({ term }): Op => ({ op: "delete", path: paths.term(shard, term), version: 0 })),
    { op: "create", path: paths.term(shard, next.term), data: Buffer.from(apiId), ephemeral: true },
    { op: "create", path: paths.counter(shard, next.term), data: EMPTY },
  ]);
  // A lost answer needs no look: a term that nobody uses is deposed by whoever wants the shard, ourselves too.
  if (!answer.ok) return { ok: false, why: `${answer.code}: ${answer.detail}` };
  return { ok: true, term: { shard, term: next.term, ids: next, idsVersion: version + 1 } };
}

/**
 * Takes back a term that was never used: what is left of one that could not be loaded would be there for ever. Best effort,
 * for without an answer the next term clears the counter away.
 */
export async function leaveTerm(session: Session, { shard, term }: Pick<Term, "shard" | "term">): Promise<void> {
  await session.multi([
    { op: "delete", path: paths.term(shard, term), version: 0 },
    { op: "delete", path: paths.counter(shard, term), version: 0 },
  ]);
}
