import { makeClient } from "@sluice/client";
import { SYSTEM_TENANT } from "@sluice/fleet-jobs";
import { JOBS } from "@sluice/wire";
import type { IntakeConfig } from "../config.ts";
import type { Schedules } from "./schedule.ts";

/** null: there is no job queue to keep them. */
export function openSchedules(config: Pick<IntakeConfig, "JOB_API_URL" | "JOB_API_TOKEN">): Schedules | null {
  const { JOB_API_URL: baseUrl, JOB_API_TOKEN: token } = config;
  if (baseUrl === undefined) return null;
  const client = makeClient({ baseUrl, ...(token === undefined ? {} : { token: token.trim() }) });
  const params = { tenant: SYSTEM_TENANT };
  return {
    create: (body) => client.call(JOBS.createJob, { params, body }),
    dataOf: async (id) => {
      const answer = await client.call(JOBS.describeJob, { params: { ...params, id } });
      return answer.ok ? { ...answer, value: answer.value.data } : answer;
    },
  };
}
