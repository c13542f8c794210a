import { makeClient } from "@sluice/client";
import { SYSTEM_TENANT } from "@sluice/fleet-jobs";
import { heldToken } from "@sluice/stage-runtime";
import { JOBS } from "@sluice/wire";
import type { IntakeConfig } from "../config.ts";
import type { Schedules } from "./schedule.ts";
import { KeptSchedule } from "./sealed.ts";

/** Sealed by somebody else, in another form: for us it is not there. */
const NOT_OURS = {
  ok: false,
  kind: "refused",
  refusal: { status: 404, code: "NOT_FOUND", title: "", detail: "no schedule of ours", instance: "" },
} as const;

type Settings = Pick<IntakeConfig, "JOB_API_URL" | "JOB_API_TOKEN" | "JOB_API_TOKEN_FILE">;

/** null: there is no job queue to keep them. */
export function openSchedules(config: Settings): Schedules | null {
  const { JOB_API_URL: baseUrl, JOB_API_TOKEN, JOB_API_TOKEN_FILE } = config;
  if (baseUrl === undefined) return null;
  const client = makeClient({ baseUrl, ...heldToken(JOB_API_TOKEN, JOB_API_TOKEN_FILE) });
  const params = { tenant: SYSTEM_TENANT };
  return {
    create: (body) => client.call(JOBS.createJob, { params, body }),
    sealedOf: async (id) => {
      const answer = await client.call(JOBS.sealedData, { params: { ...params, id } });
      if (!answer.ok) return answer;
      const read = KeptSchedule.safeParse(answer.value);
      return read.success ? { ...answer, value: read.data } : NOT_OURS;
    },
    describe: (id) => client.call(JOBS.describeJob, { params: { ...params, id } }),
    list: (names, page) => client.call(JOBS.listJobs, { params, query: { ...page, name: names.join(",") } }),
    remove: (jobID) => client.call(JOBS.deleteJob, { params, body: { jobID, afterRun: true } }),
  };
}
