/** Directories whose entries are work. */
import type { Session } from "@sluice/zookeeper";

/** The first by name: batch and job numbers grow with time. */
const OLDEST_LOOKED_AT = 20;

export interface Entries {
  readonly count: number;
  /** Names of those that are worth a look. */
  readonly first: readonly string[];
}

/** Null = no answer. */
export async function listEntries(session: Session, directory: string): Promise<Entries | null> {
  const listed = await session.children(directory);
  if (!listed.ok) return null;
  const { names } = listed.value;
  return { count: names.length, first: [...names].sort().slice(0, OLDEST_LOOKED_AT) };
}

export const earliest = (times: readonly (number | null)[]): number | null => {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : known.reduce((a, b) => Math.min(a, b));
};
