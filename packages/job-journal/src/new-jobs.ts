/** A line of the journal as the job that it becomes, and the other way round. */
import { type BlobStore, isStatus, type NewJob, readCommand, TREE_BYTES } from "@sluice/job-queue";
import type { Line } from "./batch-text.ts";

/** Whoever takes jobs in asks for nobody. */
const NOBODY = { kind: "timed", worker: "" } as const;

/** Of what the caller said of it; null for data that is in the store of blobs and not there any more. */
export async function payloadOfJob(job: NewJob, blobs: BlobStore | null): Promise<Buffer | null> {
  const { ref } = job.data;
  if (ref === undefined) return Buffer.from(JSON.stringify(job));
  // The store's sweep asks the tree and the archive, not journals: what waits here is kept here.
  const text = (await blobs?.get(ref)) ?? null;
  if (text === null) return null;
  const { text: _, ref: __, ...rest } = job.data;
  return Buffer.from(JSON.stringify({ ...job, data: { ...rest, text: text.toString("utf8") } }));
}

/** A sentence for what can be no job. */
export async function jobOfLine(line: Line, blobs: BlobStore | null): Promise<NewJob | string> {
  const job = line.form === "job" ? parseJob(line) : newJobOf(line);
  if (typeof job === "string" || Buffer.byteLength(job.data.text) <= TREE_BYTES) return job;
  if (blobs === null) return "its data is larger than the tree takes, and there is no store of blobs";
  const ref = await blobs.put(Buffer.from(job.data.text));
  return { ...job, data: { ...job.data, text: "", ref } };
}

/** It was written by us, from a job that had been read and checked. */
function parseJob({ payload, name }: Line): NewJob | string {
  try {
    return { ...(JSON.parse(payload.toString("utf8")) as NewJob), name };
  } catch {
    return "it is no job";
  }
}

/** Any bytes stand in the job's data under a name of their own, as text if they are text. */
export function newJobOf(
  { tenant, name, payload }: Pick<Line, "tenant" | "name" | "payload">,
  more: { readonly onFinish?: string } = {},
): NewJob | string {
  const text = payload.toString("utf8");
  const data = Buffer.from(text).equals(payload)
    ? { payload: text }
    : { payload: payload.toString("base64"), encoding: "base64" };
  const jobs = JSON.stringify([{ name, data, ...more }]);
  const command = readCommand("CreateJobs", { jobs }, { tenant, caller: NOBODY });
  if (isStatus(command)) return command.text;
  return (command.verb === "CreateJobs" ? command.jobs[0] : undefined) ?? "it is no job";
}
