/** The longest beginning of a text that takes at most so many bytes in JSON, never cutting a character in two. */
export function cutBytes(text: string, bytesMax: number): string {
  if (text.length * 6 <= bytesMax) return text;
  let bytes = 0;
  let end = 0;
  for (const char of text) {
    bytes += Buffer.byteLength(JSON.stringify(char)) - 2;
    if (bytes > bytesMax) return text.slice(0, end);
    end += char.length;
  }
  return text;
}
