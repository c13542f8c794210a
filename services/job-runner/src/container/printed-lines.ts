/**
 * What Docker kept of a container's output: frames with eight bytes of head (the stream, three of nothing, the length), cut
 * without regard to lines and characters.
 */
const HEAD = 8;
const LENGTH_AT = 4;

export function printedLines(log: Buffer): readonly string[] {
  const parts: Buffer[] = [];
  for (let at = 0; at + HEAD <= log.length;) {
    const end = at + HEAD + log.readUInt32BE(at + LENGTH_AT);
    parts.push(log.subarray(at + HEAD, end));
    at = end;
  }
  const lines = Buffer.concat(parts)
    .toString("utf8")
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
