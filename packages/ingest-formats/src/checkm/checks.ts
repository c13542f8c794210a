import { quote } from "../text.ts";
import type { CellProblem } from "./row.ts";

/**
 * Only what we can fetch: http and https. Production's Java also parses `ftp:`, `file:` and `jar:` here; nothing may
 * ever fetch them, so they are refused where the depositor can still correct the row. A user name or password would
 * end up in the queue's records.
 */
export function checkUrl(text: string): CellProblem[] {
  if (PLAIN_URL.test(text)) return [];
  if (!URL.canParse(text)) {
    return [urlProblem("URL_MALFORMED", `${quote(withoutQuery(text))} is no URL`)];
  }
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return [urlProblem("URL_SCHEME", `${quote(url.protocol)} is not fetched`)];
  }
  if (url.username !== "" || url.password !== "") {
    return [urlProblem("URL_USERINFO", "the URL carries a user name or password")];
  }
  return [];
}

/** What almost every row looks like; it saves the parser's time in long manifests. */
const PLAIN_URL = /^https?:\/\/[a-z][a-z0-9-]{0,60}(?:\.[a-z][a-z0-9-]{0,60}){0,8}\/[A-Za-z0-9_.~/-]*$/;

const urlProblem = (code: string, message: string): CellProblem => ({
  code,
  message,
  column: "fileUrl",
  expected: "an http or https URL without user name",
});

/** Query strings may be signatures: they never reach a message. */
const withoutQuery = (text: string): string => text.split("?", 1)[0] ?? "";

export function checkSize(text: string): CellProblem[] {
  if (/^\d{1,15}$/.test(text)) return [];
  return [
    {
      code: "SIZE_MALFORMED",
      message: `${quote(text)} is no file size`,
      column: "fileSize",
      expected: "a number of bytes",
    },
  ];
}
