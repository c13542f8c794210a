/** What the intake sealed in a job of the fleet, for the intake. Nobody else needs more than what is shown. */
import { type Operation, problem } from "@sluice/http-api";
import { SYSTEM_TENANT } from "@sluice/job-queue";
import { JOBS } from "@sluice/wire";
import { z } from "zod";
import { contentOf } from "./looking-operations.ts";
import type { JobPorts } from "./ports.ts";
import { serve } from "./serve.ts";

const SealedData = z.looseObject({ sealed: z.looseObject({}) });
const NOTHING_SEALED = problem("NOT_FOUND", "no job with this number has anything sealed");

export const sealedOperation = (ports: Pick<JobPorts, "queue">): Operation =>
  serve(JOBS.sealedData, async ({ params: { tenant, id } }) => {
    if (tenant !== SYSTEM_TENANT) return { problem: NOTHING_SEALED };
    const got = await contentOf(ports, tenant, { verb: "DescribeJob", tenant, id }, "record");
    if ("problem" in got) return got;
    const { name, data } = got.content.record;
    const read = SealedData.safeParse(JSON.parse(data));
    return read.success ? { value: { name, data: read.data } } : { problem: NOTHING_SEALED };
  });
