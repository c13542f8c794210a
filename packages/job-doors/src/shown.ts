/** The same queue for those who look: of the fleet's own jobs, URLs' queries and mail addresses are not shown. */
import { type Content, type RunView, SYSTEM_TENANT } from "@sluice/job-queue";
import { redactJson } from "@sluice/wire";
import type { Answer, QueuePort } from "./queue-port.ts";

export const shownQueue = (queue: QueuePort): QueuePort => ({
  ask: async (tenant, command) => shown(tenant, await queue.ask(tenant, command)),
  wait: (tenant, command, timeoutMs, gone) => queue.wait(tenant, command, timeoutMs, gone),
});

const shown = (tenant: string, answer: Answer): Answer =>
  answer === null || tenant !== SYSTEM_TENANT ? answer : { ...answer, content: redacted(answer.content) };

/** Whoever has taken a job needs all of it. */
function redacted(content: Content): Content {
  switch (content.kind) {
    case "job":
      return { ...content, job: { ...content.job, data: redactJson(content.job.data) } };
    case "list":
      return { ...content, jobs: content.jobs.map((job) => ({ ...job, data: redactJson(job.data) })) };
    case "runs":
      return { ...content, runs: content.runs.map(redactedRun) };
    case "record": {
      const { record } = content;
      const runs = record.runs.map(redactedRun);
      return { ...content, record: { ...redactedRun(record), data: redactJson(record.data), runs } };
    }
    default:
      return content;
  }
}

const redactedRun = <T extends Pick<RunView, "result">>(run: T): T =>
  run.result === null ? run : { ...run, result: redactJson(run.result) };
