/**
 * What is said to the queue, for the log: jobs that come in, are taken, end, go back or are removed, so that they can be
 * counted from it. Who asked and by which door only a door knows, so each lets the queue be heard for its callers.
 */
import { type Command, CONTAINER_TYPE, type Content, type Reply, type SwapJob } from "@sluice/job-queue";
import type { Answer, QueuePort } from "./queue-port.ts";

export type Door = "http" | "tcp" | "serverless" | "etcd";

/** Who speaks. */
export interface Speaker {
  readonly door: Door;
  readonly caller: string;
}

export interface JobNews extends Speaker {
  readonly what: "came" | "taken" | "ended" | "returned" | "removed";
  readonly tenant: string;
  readonly ids: readonly number[];
  readonly names?: readonly string[];
  readonly worker?: string;
  /** finished, retried or failed. */
  readonly how?: string;
  readonly exit?: number | null;
  /** The runs, by which a taking and its end are told to belong together; an end may be said twice. */
  readonly runs?: readonly string[];
}

export type Hear = (news: JobNews) => void;

/** The same queue, whose answers are heard before they are given. */
export function heardQueue(queue: QueuePort, hear: Hear, speaker: Speaker): QueuePort {
  const heard = (tenant: string, command: Command, answer: Answer): Answer => {
    const news = answer === null ? null : newsOf(command, answer);
    if (news !== null) hear({ ...speaker, tenant, ...news });
    return answer;
  };
  return {
    ask: async (tenant, command) => heard(tenant, command, await queue.ask(tenant, command)),
    wait: async (tenant, command, timeoutMs, gone) =>
      heard(tenant, command, await queue.wait(tenant, command, timeoutMs, gone)),
  };
}

type News = Omit<JobNews, "door" | "caller" | "tenant">;

/** Null: nothing that is counted. */
function newsOf(command: Command, { status, content }: Reply): News | null {
  if (status.code !== 200) return null;
  switch (command.verb) {
    case "CreateJobs":
      return { what: "came", ids: idsOf(content), names: distinct(command.jobs.map(({ name }) => name)) };
    case "GetJobs":
      return takenNews(content, command.caller.worker);
    case "FinishJob":
    case "RetryJob":
    case "FailJob": {
      const { id, exit, lease } = command;
      return { what: "ended", ids: [id], how: HOW[command.verb], exit, runs: lease === null ? [] : [lease] };
    }
    case "SwapJob":
      return swapNews(command);
    case "RequeueJobs":
      return command.ids.length === 0 ? null : { what: "returned", ids: command.ids };
    case "CancelJob":
    case "DeleteJob":
      return { what: "removed", ids: [command.id], how: HOW[command.verb] };
    default:
      return null;
  }
}

/** A step of a run is not counted. */
function swapNews({ id, from, phase, worker, outcome }: SwapJob): News | null {
  if (from === phase) return null;
  if (phase === "STARTED") return { what: "taken", ids: [id], names: [CONTAINER_TYPE], worker };
  if (phase === "QUEUED") return { what: "returned", ids: [id] };
  return { what: "ended", ids: [id], how: outcome?.isWell === false ? HOW.FailJob : HOW.FinishJob };
}

const HOW = {
  FinishJob: "finished",
  RetryJob: "retried",
  FailJob: "failed",
  CancelJob: "cancelled",
  DeleteJob: "deleted",
} as const;

const idsOf = (content: Content): readonly number[] => (content.kind === "ids" ? content.ids : []);
const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)];

function takenNews(content: Content, worker: string): News | null {
  if (content.kind !== "taken" || content.jobs.length === 0) return null;
  return {
    what: "taken",
    ids: content.jobs.map(({ view }) => view.jobID),
    names: distinct(content.jobs.map(({ view }) => view.name)),
    runs: content.jobs.map(({ token }) => token),
    worker,
  };
}
