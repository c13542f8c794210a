import type { Operation } from "@sluice/http-api";
import { ADMIN } from "@sluice/wire";
import { searchLogs } from "../house/logs.ts";
import { lookUpJob } from "../views/lookup.ts";
import { connected, SILENCE } from "./answers.ts";
import type { AdminDeps } from "./deps.ts";
import { foundOr } from "./looks.ts";
import { serve } from "./serve.ts";

const ELSEWHERE = "the services write their logs to standard output: look where they are collected, for this job's id";

export const logOperations = ({ queue, settings }: AdminDeps): readonly Operation[] => [
  serve(ADMIN.jobLogs, async ({ params, caller }) => {
    const open = connected(queue);
    if (open === null) return SILENCE;
    const found = foundOr(await lookUpJob(open, params.id, caller.scope), "job");
    if ("problem" in found) return found;
    if (settings.logsDir === null) return { value: { items: [], note: ELSEWHERE } };
    const { id, configuration } = found.value;
    const items = await searchLogs(
      settings.logsDir,
      configuration.jobID === undefined ? [id] : [id, configuration.jobID],
    );
    return { value: { items, note: items.length === 0 ? "nothing in the last part of the logs names it" : null } };
  }),
];
