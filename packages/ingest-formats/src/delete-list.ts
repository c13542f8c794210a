import { splitLines } from "./text.ts";

/**
 * mrt-delete.txt: the producer's files that an update leaves out, one path a line, with or without `producer/`. A name
 * may begin or end with a blank, so nothing is trimmed; repetitions and empty lines are dropped.
 */
export function parseDeleteList(text: string): string[] {
  const lines = splitLines(text).filter((line) => line.trim() !== "");
  return [...new Set(lines.map((line) => (line.startsWith("producer/") ? line : `producer/${line}`)))];
}
