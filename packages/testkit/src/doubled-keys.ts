/**
 * Keys that stand twice in one object of a JSON text, as paths: `JSON.parse` keeps the last of them, other readers the first.
 * Throws for a text that is no JSON.
 */
export function doubledKeys(text: string): readonly string[] {
  JSON.parse(text);
  const doubled: string[] = [];
  const open: Container[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const inside = open.at(-1);
    if (token === "{" || token === "[") open.push({ keys: token === "{" ? new Set() : null, key: "", isKey: true });
    else if (token === "}" || token === "]") open.pop();
    else if (inside?.keys == null) continue;
    else if (token === ",") inside.isKey = true;
    else if (inside.isKey) {
      inside.isKey = false;
      inside.key = JSON.parse(token) as string;
      if (inside.keys.has(inside.key)) doubled.push(open.map(({ key }) => key).join("."));
      inside.keys.add(inside.key);
    }
  }
  return doubled;
}

/** Strings and marks; numbers, words and colons are of no interest. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

interface Container {
  /** null: a list. */
  readonly keys: Set<string> | null;
  key: string;
  /** The next string is a key. */
  isKey: boolean;
}
