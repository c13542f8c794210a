/** What stands in jobs of the fleet itself and is not for everybody who may see that there are such jobs. */

const HIDDEN = "[redacted]";
/** Signed addresses carry their rights in the query, others in front of the host. */
const QUERY = /(https?:\/\/[^\s?#"]{1,2000})[?#][^\s"]*/gi;
const USER = /(https?:\/\/)[^\s/@"]{1,200}@/gi;
const MAIL = /[^\s@<>,;:"/]{1,64}@[^\s@<>,;:"/]{1,255}/g;

export const redactText = (text: string): string =>
  text.replace(USER, "$1").replace(QUERY, `$1?${HIDDEN}`).replace(MAIL, HIDDEN);

/** All texts in it, however deep. */
export function redactValue(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, redactValue(one)]));
}

/** JSON as text; what is none is a text. */
export function redactJson(json: string): string {
  try {
    return JSON.stringify(redactValue(JSON.parse(json)));
  } catch {
    return redactText(json);
  }
}
