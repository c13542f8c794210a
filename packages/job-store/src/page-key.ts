/** Where a page of the archive ends: blocks from the newest, and in a block the runs that ended last first. */
import { blockOf, type EndedRun } from "@sluice/job-queue";

export interface PageKey {
  readonly block: number;
  readonly ended: number;
  readonly id: number;
  readonly token: string;
}

export const keyOf = ({ id, token, done }: EndedRun): PageKey => ({
  block: blockOf(id),
  ended: done.ended,
  id,
  token,
});

export const printKey = ({ block, ended, id, token }: PageKey): string => `${block}_${ended}_${id}_${token}`;

/** Null for what is no key of ours. */
export function parseKey(raw: string): PageKey | null {
  const [, block, ended, id, token] = /^(\d{1,13})_(-?\d{1,16})_(\d{1,16})_(\d+\.\d+)$/.exec(raw) ?? [];
  if (block === undefined || ended === undefined || id === undefined || token === undefined) return null;
  return { block: Number(block), ended: Number(ended), id: Number(id), token };
}

const compareKeys = (a: PageKey, b: PageKey): number =>
  b.block - a.block || b.ended - a.ended || b.id - a.id || (a.token < b.token ? 1 : a.token > b.token ? -1 : 0);

export const newestFirst = (a: EndedRun, b: EndedRun): number => compareKeys(keyOf(a), keyOf(b));
export const afterKey = (run: EndedRun, key: PageKey): boolean => compareKeys(keyOf(run), key) > 0;
