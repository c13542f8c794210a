/** A run as a line of JSON. */
import { type EndedRun, parseJobId, records } from "@sluice/job-queue";

export const printRun = ({ id, token, done }: EndedRun): string =>
  `{"id":${id},"token":${JSON.stringify(token)},"done":${records.done.encode(done).toString("utf8")}}\n`;

/** Null for a line that is none of ours. */
export function parseRun(line: string): EndedRun | null {
  const [, rawId, token, rest] = /^\{"id":(\d+),"token":"(\d+\.\d+)","done":(\{.*\})\}$/.exec(line) ?? [];
  if (rawId === undefined || token === undefined || rest === undefined) return null;
  const id = parseJobId(rawId);
  const done = records.done.decode(Buffer.from(rest));
  return id === null || !done.ok ? null : { id, token, done: done.value };
}
