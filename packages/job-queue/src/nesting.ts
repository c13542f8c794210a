/**
 * How deep JSON is nested, told from its text: to print or to compare what is nested thousands deep overflows the stack, so
 * it is refused before anything is made of it. Reads each character once.
 */
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

export function isNestedDeeper(text: string, most: number): boolean {
  // Every level takes two characters.
  if (text.length <= 2 * most) return false;
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inText) {
      if (char === BACKSLASH) at += 1;
      else if (char === QUOTE) inText = false;
    } else if (char === QUOTE) inText = true;
    else if (char === OPEN_LIST || char === OPEN_OBJECT) {
      depth += 1;
      if (depth > most) return true;
    } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}
