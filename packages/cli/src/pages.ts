/** Lists come in pages: so many items as were asked for, or all of them. */
import type { Answer } from "@sluice/client";
import type { Option } from "./command.ts";
import type { Given } from "./given.ts";

export const LIST_OPTIONS: readonly Option[] = [
  { name: "limit", value: "N", kind: "number", says: "at most so many; 50 if not given" },
  { name: "all", says: "all of them" },
];

export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

const LIMIT = 50;
const PAGE_MAX = 200;

/** A page may be short, even empty, and not the last. */
export async function readPages<T>(
  given: Given,
  ask: (page: { limit: number; cursor?: string }) => Promise<Answer<Page<T>>>,
): Promise<Answer<Page<T>>> {
  const wanted = given.has("all") ? Infinity : (given.number("limit") ?? LIMIT);
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(PAGE_MAX, Math.max(1, wanted - items.length));
    const answer: Answer<Page<T>> = await ask({ limit, ...(cursor === null ? {} : { cursor }) });
    if (!answer.ok) return answer;
    for (const each of answer.value.items) items.push(each);
    cursor = answer.value.next_cursor;
  } while (cursor !== null && items.length < wanted);
  return { ok: true, status: 200, value: { items, next_cursor: cursor } };
}

export const moreThere = (cursor: string | null): string | null =>
  cursor === null ? null : "There are more: --limit N, or --all.";
