/** Patterns over names of files: `*.py`, `bin/*`, `*.dat` at any depth. */

/** `*` and `?` stay within a folder; `**` is any number of folders, none among them. */
function expressionOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/\*\*\/|\*\*|\*|\?|[^*?]+/g, (part) => {
    if (part === "**/") return "(?:[^/]+/)*";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    return part === "?" ? "[^/]" : part.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${source}$`, "su");
}

/** No patterns, or none in the list: everything. */
export function matcherOf(patterns: readonly string[] | undefined): (name: string) => boolean {
  if (patterns === undefined || patterns.length === 0) return () => true;
  const expressions = patterns.map(expressionOf);
  return (name) => expressions.some((expression) => expression.test(name));
}
