import { isPlainText } from "./text.ts";

/** File systems take 255 bytes; a prefix or suffix of ours must still fit. */
const NAME_MAX_BYTES = 240;

/** Why a name cannot be that of a payload's file; null if it can. Names are kept byte-exact or refused, never mended. */
export function nameProblem(name: string): string | null {
  if (name === "") return "the file needs a name";
  if (name.includes("/") || name.includes("\\") || name === "." || name === "..")
    return "expected the name of a file, without folders";
  if (!isPlainText(name)) return "control characters are not allowed in a file name";
  if (Buffer.byteLength(name) > NAME_MAX_BYTES) return `has more than ${NAME_MAX_BYTES} bytes`;
  return null;
}

/** What a browser would save the URL as; "payload" when its path ends in nothing usable. */
export function nameOfUrl(url: string): string {
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  const name = decoded(last);
  return nameProblem(name) === null ? name : "payload";
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
