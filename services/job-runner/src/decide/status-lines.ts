/** The answer of an `http` handler to a batch: a line for each job, `exitcode[ result]`. */
import type { Ended } from "../run/types.ts";

export const NO_RESPONSE: Ended = { exit: 500, result: "NO_RESPONSE" };
const INVALID: Ended = { exit: 500, result: "INVALID_RESPONSE" };

const LINE = /^([1-5]\d\d)(?: (.*))?$/;

/** In the order of the jobs. After a line that is none, nobody knows which line belongs to whom. */
export function endsOf(body: string, jobs: number): readonly Ended[] {
  const lines = body.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  if (lines.at(-1) === "") lines.pop();
  const ends: Ended[] = [];
  for (const line of lines.slice(0, jobs)) {
    const [, exit, result] = LINE.exec(line) ?? [];
    if (exit === undefined) break;
    ends.push({ exit: Number(exit), result });
  }
  const broken = ends.length < Math.min(lines.length, jobs);
  while (ends.length < jobs) ends.push(broken ? INVALID : NO_RESPONSE);
  return ends;
}
