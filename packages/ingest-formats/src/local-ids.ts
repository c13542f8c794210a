/** `a; b;a` → `["a", "b"]`: split at semicolons, trimmed, empty ones and repetitions dropped, order kept. */
export function parseLocalIds(text: string): string[] {
  return text === "" ? [] : mergeLocalIds(text.split(";"));
}

/** Joins lists of local ids in order, without repetitions. */
export function mergeLocalIds(...lists: readonly (readonly string[])[]): string[] {
  const trimmed = lists.flat().map((id) => id.trim());
  return [...new Set(trimmed)].filter((id) => id !== "");
}

export const printLocalIds = (ids: readonly string[]): string => ids.join(";");
