const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

/**
 * Trims ASCII white space only, as Merritt's `\s` does: a no-break space at the end of a file name belongs to the name.
 */
export function trimAscii(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Lines of a small text; LF or CRLF, a byte order mark is dropped. */
export function splitLines(text: string): string[] {
  const body = text.startsWith("\uFEFF") ? text.slice(1) : text;
  return body.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** Shortens foreign text for a message, and makes control characters visible. */
export function quote(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 77)}…` : text;
  return JSON.stringify(short);
}
