/**
 * Where a page of ended runs ends, as callers carry it. Runs move from the tree to the archive while pages are read: those that
 * were shown from the tree must not come again, and those that moved before their turn must not be missed.
 */
import type { EndedRun } from "../run-archive.ts";
import { type DoneEntry, HOUR_MS, hourOf, laterFirst } from "./done-index.ts";

/** The order of pages over the tree: by the hour of the end, then by when it was taken. */
export interface RunKey {
  readonly hour: number;
  readonly id: number;
  readonly token: string;
}

export interface RunsCursor {
  /** The last one of the tree that was read. */
  readonly tree: RunKey | null;
  /** The archive as it was at the first page. */
  readonly since: string;
  /** How far the archive was read; null: the tree comes first. */
  readonly archive: string | null;
}

/** The archive from its newest on. */
export const FROM_NEWEST = "";

export const keyOfEntry = ({ directory, id, token }: DoneEntry): RunKey => ({
  hour: Math.floor((hourOf(directory) ?? 0) / HOUR_MS),
  id,
  token,
});
export const keyOfRun = ({ id, token, done }: EndedRun): RunKey => ({
  hour: Math.floor(done.ended / HOUR_MS),
  id,
  token,
});

export const newerFirst = (a: RunKey, b: RunKey): number => b.hour - a.hour || laterFirst(a, b);

export const printCursor = ({ tree, since, archive }: RunsCursor): string =>
  JSON.stringify([tree === null ? null : [tree.hour, tree.id, tree.token], since, archive]);

/** Null for what is no cursor of ours. */
export function parseCursor(raw: string): RunsCursor | null {
  const [tree, since, archive] = parsed(raw);
  if (typeof since !== "string" || (archive !== null && typeof archive !== "string")) return null;
  if (tree === null) return { tree, since, archive };
  const [hour, id, token] = Array.isArray(tree) ? (tree as readonly unknown[]) : [];
  if (typeof hour !== "number" || typeof id !== "number" || typeof token !== "string") return null;
  return { tree: { hour, id, token }, since, archive };
}

function parsed(raw: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(raw);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
