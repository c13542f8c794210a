/** Answers on the wire: a status, headers, and content with its true length in bytes. */
import type { Content, Reply, StateView, Status } from "@sluice/job-queue";
import { printJob, printLoosely, type Shown } from "./json-printer.ts";

export interface WireReply {
  readonly status: Status;
  readonly headers?: Readonly<Record<string, string>>;
  /** "" for none. */
  readonly content: string;
}

export function printWireReply({ status, headers = {}, content }: WireReply): Buffer {
  const lines = [`${status.code} ${status.text}`, ...Object.entries(headers).map(([name, text]) => `${name}: ${text}`)];
  if (content !== "") lines.push(`Content-Length: ${Buffer.byteLength(content)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${content}`);
}

/** With all fields comes the lease, for those who will end the job over another connection. */
export function wireReplyOf({ status, content }: Reply, shown: Shown): WireReply {
  const leases = content.kind === "taken" ? content.jobs.map(({ token }) => token) : [];
  const headers = {
    ...(shown === "all" && leases.length > 0 ? { Lease: leases.join(", ") } : {}),
    // Who sends it back as `after` gets the rest.
    ...(content.kind === "list" && content.next !== null ? { Next: String(content.next) } : {}),
  };
  return { status, headers, content: contentOf(content, shown) };
}

function contentOf(content: Content, shown: Shown): string {
  switch (content.kind) {
    case "none":
    case "deleted":
      return "";
    case "ids":
      return content.single ? `{"jobID":${content.ids[0]}}` : `{"jobIDs":[${content.ids.join(",")}]}`;
    case "taken": {
      const jobs = content.jobs.map(({ view }) => printJob(view, shown, printLoosely));
      // A job that turned out to be poison was found, and given to nobody.
      return content.single ? (jobs[0] ?? "{}") : `{"jobs":[${jobs.join(",")}]}`;
    }
    case "job":
      return printJob(content.job, shown, printLoosely);
    case "list":
      return `[${content.jobs.map(rowOf).join(",")}]`;
    case "lost":
    case "released":
      return `{"jobIDs":[${content.ids.join(",")}]}`;
    case "record":
      return JSON.stringify(content.record);
    case "runs":
      return JSON.stringify({ runs: content.runs, next: content.next });
    case "counts":
      return JSON.stringify({ types: content.types });
    case "crashed":
      return JSON.stringify({ crashedBedrockJobs: content.names.length, crashedBedrockJobsList: content.names });
    case "block":
      return JSON.stringify({ first: content.first, last: content.last });
  }
}

/** A row of `select * from jobs;`, whose columns and whole seconds are those of the sample session. */
function rowOf({ created, jobID, state, name, nextRun, lastRun, repeat, data }: StateView): string {
  const texts = [name, seconds(nextRun), seconds(lastRun), repeat].map(printLoosely);
  return `[${[printLoosely(created), jobID, printLoosely(state), ...texts, data].join(",")}]`;
}

const seconds = (time: string): string => time.split(".")[0] ?? "";
