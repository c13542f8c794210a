/** A page of a list. A filter may leave pages empty that are not the last: those are passed over. */
import type { Answer } from "@sluice/client";
import { useCallback, useEffect, useState } from "preact/hooks";
import { type Trouble, troubleOf } from "./api.ts";
import { useVisible } from "./load.ts";

export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

export interface Listed<T> {
  readonly items: readonly T[] | null;
  readonly next: string | null;
  readonly trouble: Trouble | null;
  readonly reload: () => void;
}

type Ask<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<Answer<Page<T>>>;

const EVERY_MS = 4_000;
/** Then it is shown that nothing was found so far, with a way to go on. */
const EMPTY_PAGES_MAX = 20;

async function firstWithItems<T>(ask: Ask<T>, from: string | undefined, signal: AbortSignal): Promise<Answer<Page<T>>> {
  let answer = await ask(from, signal);
  for (let i = 0; i < EMPTY_PAGES_MAX; i++) {
    if (!answer.ok || answer.value.items.length > 0 || answer.value.next_cursor === null) return answer;
    answer = await ask(answer.value.next_cursor, signal);
  }
  return answer;
}

/** `key` says what is asked for: another one is another list. */
export function useList<T>(key: string, cursor: string | null, ask: Ask<T>): Listed<T> {
  const whole = `${key} ${cursor ?? ""}`;
  const [kept, setKept] = useState<Listed<T> & { readonly of: string }>();
  const [turn, setTurn] = useState(0);
  const visible = useVisible();
  useEffect(() => {
    if (!visible) return undefined;
    const stop = new AbortController();
    let timer: number | undefined;
    const look = async (): Promise<void> => {
      const answer = await firstWithItems(ask, cursor ?? undefined, stop.signal);
      if (stop.signal.aborted) return;
      setKept((before) => {
        const old = before?.of === whole ? before : { items: null, next: null };
        return answer.ok
          ? { of: whole, items: answer.value.items, next: answer.value.next_cursor, trouble: null, reload }
          : { of: whole, items: old.items, next: old.next, trouble: troubleOf(answer), reload };
      });
      timer = window.setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [whole, turn, visible]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  return kept?.of === whole ? kept : { items: null, next: null, trouble: null, reload };
}
