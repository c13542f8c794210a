import type { Clock } from "@sluice/zookeeper";

/** However many ask at once, `look` is called once per `maxAgeMs`; an answer that did not come is asked for again. */
export function sharedLook<T>(
  look: () => Promise<T | null>,
  clock: Pick<Clock, "monotonicMs">,
  maxAgeMs: number,
): () => Promise<T | null> {
  let looking: Promise<T | null> | null = null;
  let last: { readonly value: T; readonly atMs: number } | null = null;
  const again = async (): Promise<T | null> => {
    const value = await look();
    last = value === null ? null : { value, atMs: clock.monotonicMs() };
    return value;
  };
  return () => {
    if (last !== null && clock.monotonicMs() - last.atMs < maxAgeMs) return Promise.resolve(last.value);
    looking ??= again().finally(() => (looking = null));
    return looking;
  };
}
