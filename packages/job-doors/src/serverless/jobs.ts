/**
 * The serverless document's way to add jobs: a payload per line, for a type of a client. Client and type are tenant and name
 * of the one model; a payload is any text, so it stands in the job's data under a name of its own.
 */
import { isTenant, type Reply, type Status, STATUS } from "@sluice/job-queue";

/** Commas and bars separate fields in journals and results: a type that has them could be taken for another. */
const TYPE = /^[^\s,|/]+$/;

/** Blank lines are no jobs; a carriage return before the line's end is no part of the payload. */
export function payloadsOf(body: string): string[] {
  return body
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
    .filter((line) => line.trim() !== "");
}

/** What is to be added, or why it cannot be. */
export function readAdding(client: string, type: string, body: string, onFinish?: string): readonly string[] | Status {
  if (!isTenant(client)) return STATUS.malformed("client");
  if (!TYPE.test(type)) return STATUS.malformed("type");
  if (onFinish !== undefined && !TYPE.test(onFinish)) return STATUS.malformed("onFinish");
  const payloads = payloadsOf(body);
  return payloads.length === 0 ? STATUS.missing("payload") : payloads;
}

/** The ids, a line each, in the order of the payloads. */
export const printIds = ({ content }: Reply): string =>
  content.kind === "ids" ? content.ids.map((id) => `${id}\n`).join("") : "";

/** Null for a job that came in by another door. */
export function payloadOf(data: string): string | null {
  const value: unknown = JSON.parse(data);
  if (typeof value !== "object" || value === null || !("payload" in value)) return null;
  return typeof value.payload === "string" ? value.payload : null;
}
