/** The queue's answers over HTTP: JSON, put together from text so that data keeps its bytes; refusals as problems. */
import { type Problem, problem } from "@sluice/http-api";
import type { Content, Reply, TakenView } from "@sluice/job-queue";
import { printJob } from "../bedrock/json-printer.ts";
import { TOKEN_ENDED } from "../still.ts";

const print = (text: string): string => JSON.stringify(text);

/** Of a command's answer. */
export function jsonOf(content: Content): string {
  switch (content.kind) {
    case "none":
    case "deleted":
      return "{}";
    case "ids":
      return content.single ? `{"jobID":${content.ids[0]}}` : `{"jobIDs":[${content.ids.join(",")}]}`;
    case "taken": {
      const jobs = content.jobs.map(({ view, token }) => printTaken(view, token));
      return content.single ? (jobs[0] ?? "{}") : `{"jobs":[${jobs.join(",")}]}`;
    }
    case "job":
      return printJob(content.job, "all", print);
    case "crashed":
      return JSON.stringify({ crashedBedrockJobs: content.names.length, crashedBedrockJobsList: content.names });
    default:
      throw new Error(`no command is answered with ${content.kind}`);
  }
}

export const printTaken = (view: TakenView, token: string): string =>
  `${printJob(view, "all", print).slice(0, -1)},"lease":${print(token)}}`;

/** Where the queue does not say when: a shard has a new owner by then. */
const AGAIN_MS = 2_000;

/** Null for what went well. The document's numbers have other meanings in HTTP; its words are the detail. */
export function problemOf({ status }: Reply): Problem | null {
  if (status.code < 300) return null;
  if (status === TOKEN_ENDED) return problem("UNAUTHENTICATED", status.text);
  const { code, text, retryAfterMs = AGAIN_MS } = status;
  const later = { retryAfterSeconds: retryAfterMs / 1_000 };
  switch (code) {
    case 401:
    case 402:
    case 430:
      return problem("INVALID_REQUEST", text);
    case 404:
      return problem("NOT_FOUND", text);
    case 405:
    case 500:
      return problem("CONFLICT", text);
    case 412:
      return problem("PRECONDITION_FAILED", text);
    case 429:
      return problem("TOO_MANY_REQUESTS", text, later);
    default:
      return problem("UNAVAILABLE", text, later);
  }
}
