/**
 * The contents of answers as JSON text. It is put together from text, because a job's data is JSON that keeps its bytes:
 * reading and printing it again would change numbers that JavaScript cannot hold.
 */
import type { ChildView, JobView, StateView, Taken } from "@sluice/job-queue";

/** Of a job, `some` shows what the document's sample session shows, and a resumed parent its ended children; `all` everything. */
export type Shown = "some" | "all";

const SOME: readonly string[] = ["data", "jobID", "name", "state", "finishedChildJobs", "cancelledChildJobs"];
/** JSON already. */
const RAW: readonly string[] = ["data", "parentData"];

type View = JobView | StateView | Taken["view"];

/** Keys in alphabetical order, as the sample session has them. `print` decides how texts look. */
export function printJob(view: View, shown: Shown, print: (text: string) => string): string {
  const fields = Object.entries(view) as [string, string | number | readonly ChildView[] | undefined][];
  const parts = fields
    .filter(([name]) => shown === "all" || SOME.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => (value === undefined ? [] : [`"${name}":${printField(name, value, print)}`]));
  return `{${parts.join(",")}}`;
}

function printField(
  name: string,
  value: string | number | readonly ChildView[],
  print: (text: string) => string,
): string {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return `[${value.map(printChild).join(",")}]`;
  return RAW.includes(name) ? value : print(value);
}

const printChild = ({ jobID, data }: ChildView): string =>
  data === null ? `{"jobID":${jobID}}` : `{"data":${data},"jobID":${jobID}}`;

/** As Bedrock prints texts: what is JSON by itself, and no text, stands there as it is. */
export function printLoosely(text: string): string {
  if (!/^\s*[-\d[{tfn]/.test(text)) return JSON.stringify(text);
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}
