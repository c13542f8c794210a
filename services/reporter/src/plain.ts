import { redactUrl } from "@sluice/safe-io";

/** Text of strangers (file names, titles, messages of servers) made fit to be shown in a mail. */

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** One line, nothing that steers a terminal or ends a header. */
export const oneLine = (text: string): string => text.replaceAll(CONTROL, " ").trim();

/** Addresses without name, password and query, too: a signed query opens what it names. */
export const shown = (text: string): string => oneLine(redactUrl(text));

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => ENTITIES[c] ?? c);
