import { isPlainText, TEXT_MAX } from "./text.ts";

/** Why a payload cannot be fetched from there; null if it can, as far as its spelling tells. */
export function urlProblem(given: string): string | null {
  if (given.length > TEXT_MAX || !isPlainText(given) || !URL.canParse(given)) return "is no URL";
  const url = new URL(given);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "expected an http or https URL";
  // It would stand in the queue's records for all to read.
  return url.username === "" && url.password === "" ? null : "must not carry a user name or password";
}
