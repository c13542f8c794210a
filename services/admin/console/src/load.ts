/** What a page shows: asked for once, again and again, or listened to. Nobody is asked while the page is hidden. */
import type { Answer, CallInput } from "@sluice/client";
import type { AnswerOf, Endpoint } from "@sluice/wire";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call, client, noticed, type Trouble, troubleOf } from "./api.ts";

export interface Loaded<T> {
  /** The last one, also while a newer one is asked for. */
  readonly value: T | null;
  readonly trouble: Trouble | null;
  readonly reload: () => void;
}

export type Line = "connecting" | "live" | "reconnecting" | "over" | "paused";
export interface Live<T> extends Loaded<T> {
  readonly line: Line;
}

interface Kept<T> {
  readonly key: string;
  readonly value: T | null;
  readonly trouble: Trouble | null;
}

const keyOf = (endpoint: Endpoint, input: object): string => JSON.stringify([endpoint.id, input]);

export function useVisible(): boolean {
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const changed = (): void => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", changed);
    return () => document.removeEventListener("visibilitychange", changed);
  }, []);
  return visible;
}

function useKept<T>(key: string) {
  const [kept, setKept] = useState<Kept<T>>({ key, value: null, trouble: null });
  // What belongs to another address must not be seen under this one, not even for a moment.
  return { shown: kept.key === key ? kept : { key, value: null, trouble: null }, setKept };
}

export interface AskOptions {
  readonly everyMs?: number;
  /** false: do not ask. */
  readonly when?: boolean;
}

export function useAnswer<E extends Endpoint>(endpoint: E, input: CallInput<E>, options: AskOptions = {}) {
  const { everyMs, when = true } = options;
  const key = keyOf(endpoint, input);
  const { shown, setKept } = useKept<AnswerOf<E>>(key);
  const [turn, setTurn] = useState(0);
  const visible = useVisible();
  const asked = useRef(input);
  asked.current = input;
  useEffect(() => {
    if (!when || (!visible && everyMs !== undefined)) return undefined;
    const stop = new AbortController();
    let timer: number | undefined;
    const ask = async (): Promise<void> => {
      const answer = await call(endpoint, { ...asked.current, signal: stop.signal });
      if (stop.signal.aborted) return;
      setKept((before) => {
        const value = before.key === key ? before.value : null;
        return answer.ok ? { key, value: answer.value, trouble: null } : { key, value, trouble: troubleOf(answer) };
      });
      if (everyMs !== undefined) timer = window.setTimeout(() => void ask(), everyMs);
    };
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, turn, when, visible, everyMs]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  return { value: shown.value, trouble: shown.trouble, reload } satisfies Loaded<AnswerOf<E>>;
}

const POLL_MS = 5_000;

/**
 * Listens to `endpoint`. While no event has come over this line (a proxy that keeps them back, a break), `plain` is
 * asked now and then instead.
 */
export function useLive<E extends Endpoint, P extends Endpoint>(
  endpoint: E,
  plain: P & (AnswerOf<P> extends AnswerOf<E> ? unknown : never),
  input: CallInput<E> & CallInput<P>,
  when = true,
): Live<AnswerOf<E>> {
  const key = keyOf(endpoint, input);
  const { shown, setKept } = useKept<AnswerOf<E>>(key);
  const [line, setLine] = useState<Line>("connecting");
  const [turn, setTurn] = useState(0);
  const visible = useVisible();
  const asked = useRef(input);
  asked.current = input;
  useEffect(() => {
    if (!when) return undefined;
    if (!visible) {
      setLine("paused");
      return undefined;
    }
    const stop = new AbortController();
    let heard = false;
    const silent = (): boolean => !heard && !stop.signal.aborted;
    setLine("connecting");
    const keep = (answer: Answer<AnswerOf<E>>): void =>
      setKept((before) => {
        const value = before.key === key ? before.value : null;
        return answer.ok ? { key, value: answer.value, trouble: null } : { key, value, trouble: troubleOf(answer) };
      });
    const listen = async (): Promise<void> => {
      for await (const answer of client.events(endpoint, { ...asked.current, signal: stop.signal })) {
        if (stop.signal.aborted) return;
        noticed(answer);
        heard = answer.ok;
        setLine(answer.ok ? "live" : "reconnecting");
        // That events do not come through is no trouble as long as asking helps.
        if (answer.ok) keep(answer);
        else void poll();
      }
      if (!stop.signal.aborted) setLine("over");
    };
    const poll = async (): Promise<void> => {
      if (!silent()) return;
      const answer = await call(plain as Endpoint, { ...asked.current, signal: stop.signal });
      if (silent()) keep(answer as Answer<AnswerOf<E>>);
    };
    void listen();
    const timer = setInterval(() => void poll(), POLL_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [key, turn, when, visible]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  return { value: shown.value, trouble: shown.trouble, line, reload };
}
