/** Signed query strings and passwords in URLs are kept, and never shown. */

/** From `://` on: userinfo up to the last @ of the authority, and everything after the question mark. */
const USERINFO = /:\/\/[^\s/?#"'<>]*@/g;
const QUERY = /(:\/\/[^\s?"'<>]*)\?[^\s"'<>]*/g;

const cleaned = (text: string): string => text.replaceAll(USERINFO, "://…@").replaceAll(QUERY, "$1?…");

export function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return cleaned(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutSecrets(each)]));
}
