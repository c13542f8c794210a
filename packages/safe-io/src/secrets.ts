/**
 * A URL as it may be shown and logged: without user name, password, query and fragment, because signed URLs carry their
 * secret there.
 */
export function displayUrl(url: string | URL): string {
  const text = typeof url === "string" ? url : url.href;
  if (!URL.canParse(text)) return "(no URL)";
  const parsed = new URL(text);
  const query = parsed.search === "" ? "" : "?…";
  return parsed.host === "" ? `${parsed.protocol}…` : `${parsed.protocol}//${parsed.host}${parsed.pathname}${query}`;
}

/** The same for every URL in a text that somebody else wrote. */
export const redactUrl = (text: string): string =>
  text.replaceAll(/[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]+/gi, (url) => displayUrl(url));
