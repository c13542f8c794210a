/** What several of the etcd document's endpoints take. */
import { DEFAULT_TENANT, isTenant } from "@sluice/job-queue";
import { z } from "zod";

export const tenant = z.string().refine(isTenant, "a-z, 0-9 and -, up to 64").default(DEFAULT_TENANT);
export const jobId = z.coerce.number("expected a job's number").int().min(1);
export const problems = ["NOT_FOUND", "UNAVAILABLE", "FORBIDDEN"] as const;
