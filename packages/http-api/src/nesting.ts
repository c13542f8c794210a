/**
 * JSON that is nested thousands deep is refused before it is parsed: to print, to compare or to check it overflows the
 * stack. Reads each byte once; brackets and quotes are single bytes in UTF-8, and part of no other character.
 */
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** No request of ours needs more than a tenth of it. */
export const BODY_DEPTH = 120;

export function isNestedTooDeep(bytes: Uint8Array, most = BODY_DEPTH): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > most) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}
