/** What was probably meant: the nearest word, if it is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  const lower = word.toLowerCase();
  const begins = known.filter((each) => each.toLowerCase().startsWith(lower));
  if (begins.length === 1 && lower.length >= 2) return begins[0] ?? null;
  const ranked = known
    .map((each) => ({ each, steps: distance(lower, each.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps);
  const [best] = ranked;
  return best !== undefined && best.steps <= Math.max(1, Math.floor(best.each.length / 3)) ? best.each : null;
}

/** Levenshtein, with swapped neighbours as one step. */
function distance(a: string, b: string): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Math.max(i, j);
  for (let j = 1; j <= b.length; j++) rows[0]?.push(j);
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let steps = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        steps = Math.min(steps, at(i - 2, j - 2) + 1);
      rows[i]?.push(steps);
    }
  }
  return at(a.length, b.length);
}

export const orMaybe = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  return near === null ? "" : `; did you mean ${near}?`;
};
