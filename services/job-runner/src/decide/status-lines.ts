/** The answer of an `http` handler to a batch: a line for each job, `exitcode[ result]`, after the `J: ` lines of this job. */
import type { Ended } from "../run/types.ts";
import { isJobLine } from "./job-lines.ts";

export const NO_RESPONSE: Ended = { exit: 500, result: "NO_RESPONSE" };
const INVALID: Ended = { exit: 500, result: "INVALID_RESPONSE" };

const LINE = /^([1-5]\d\d)(?: (.*))?$/;

/** In the order of the jobs. After a line that is none, nobody knows which line belongs to whom. */
export function endsOf(body: string, jobs: number): readonly Ended[] {
  const lines = body.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  if (lines.at(-1) === "") lines.pop();
  const ends: Ended[] = [];
  let asked: string[] = [];
  let isBroken = false;
  for (const line of lines) {
    if (isJobLine(line)) {
      asked.push(line);
      continue;
    }
    if (ends.length === jobs) break;
    const [, exit, result] = LINE.exec(line) ?? [];
    isBroken = exit === undefined;
    if (isBroken) break;
    ends.push({ exit: Number(exit), result, ...(asked.length === 0 ? {} : { lines: asked }) });
    asked = [];
  }
  // What is asked for after the last end belongs to it.
  const last = isBroken || asked.length === 0 ? undefined : ends.pop();
  if (last !== undefined) ends.push({ ...last, lines: [...(last.lines ?? []), ...asked] });
  while (ends.length < jobs) ends.push(isBroken ? INVALID : NO_RESPONSE);
  return ends;
}
