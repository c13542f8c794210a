import { createHash } from "node:crypto";

/** Names for the files of one submission, each once: as Merritt does it, a later one of the same name gets a UUID before it. */
export function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name, index) => {
    const unique = taken.has(name) ? `${uuidOf(`${index}/${name}`)}-${name}` : name;
    taken.add(unique);
    return unique;
  });
}

/** From its place in the form, not from chance: the same form sent again must be the same request. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}
