import { failure, type Outcome, success } from "../outcome.ts";

/** Names that we use for unfinished files; a deposit may not bring its own. */
export const TEMP_PREFIX = ".sluice-tmp-";

const MAX_COMPONENT_BYTES = 255;
const MAX_NAME_BYTES = 3000;

/**
 * Splits a relative name into its components, or says why it cannot be stored. Nothing is decoded, normalised or
 * repaired: a name is stored byte for byte (`%2e%2e` is a name like any other) or refused.
 */
export function parseName(name: string): Outcome<readonly string[]> {
  const components = name.split("/");
  const reason = refusalOfName(name) ?? components.map(refusalOfComponent).find((found) => found !== undefined);
  if (reason === undefined) return success(components);
  return failure({ code: "NAME_REFUSED", message: `${visibleName(name)}: ${reason}`, retryable: false });
}

function refusalOfName(name: string): string | undefined {
  if (name === "") return "the name is empty";
  if (name.startsWith("/") || /^[A-Za-z]:\//.test(name)) return "the path is absolute";
  if (name.includes("\\")) return "a backslash separates folders on other systems";
  if (/[\u0000-\u001F\u007F]/.test(name)) return "it contains control characters";
  if (/\p{Surrogate}/u.test(name)) return "it is no proper Unicode and could not be stored as it is";
  return Buffer.byteLength(name) > MAX_NAME_BYTES ? `it is longer than ${MAX_NAME_BYTES} bytes` : undefined;
}

function refusalOfComponent(component: string): string | undefined {
  if (component === "") return "it has an empty part";
  if (component === "." || component === "..") return "it leaves its folder";
  if (component.startsWith(TEMP_PREFIX)) return `names that begin with ${TEMP_PREFIX} are reserved`;
  const tooLong = Buffer.byteLength(component) > MAX_COMPONENT_BYTES;
  return tooLong ? `a part is longer than ${MAX_COMPONENT_BYTES} bytes` : undefined;
}

/** A name as it can be shown in a message. */
export const visibleName = (name: string): string =>
  JSON.stringify(name.length > 120 ? `${name.slice(0, 117)}…` : name);
