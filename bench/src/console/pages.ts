/** Everything that a page of the console, or the command, asks for, with each filter. */
import type { Answer } from "@sluice/client";
import { JOB_STATES } from "@sluice/queue-core";
import { ADMIN } from "@sluice/wire";
import type { AdminProcess } from "./admin-process.ts";
import { type BigTree, COLLECTIONS, FAILURES, SUBMITTERS } from "./big-tree.ts";

export interface Page {
  readonly name: string;
  readonly ask: () => Promise<Answer<unknown>>;
}

export function pagesOf({ admin, depositor }: AdminProcess, { batch, job, jobs }: BigTree): readonly Page[] {
  const page = (name: string, ask: Page["ask"]): Page => ({ name, ask });
  const [profile] = COLLECTIONS;
  const [submitter] = SUBMITTERS;
  const [error_code] = FAILURES;
  const batchesBy = (query: Parameters<typeof admin.call<typeof ADMIN.batches>>[1]["query"]) =>
    page(`batches ${JSON.stringify(query)}`, () => admin.call(ADMIN.batches, { query: query ?? {} }));
  const jobsBy = (query: Parameters<typeof admin.call<typeof ADMIN.jobs>>[1]["query"], client = admin, who = "") =>
    page(`jobs ${JSON.stringify(query)}${who}`, () => client.call(ADMIN.jobs, { query: query ?? {} }));
  return [
    page("overview", () => admin.call(ADMIN.overview, {})),
    page("stages", () => admin.call(ADMIN.stages, {})),
    page("workers", () => admin.call(ADMIN.workers, {})),
    page("collections", () => admin.call(ADMIN.collections, {})),
    page("history", () => admin.call(ADMIN.history, {})),
    page("audit", () => admin.call(ADMIN.audit, {})),
    page("operations", () => admin.call(ADMIN.operations, {})),
    batchesBy({}),
    batchesBy({ state: "Processing" }),
    batchesBy({ state: "Completed" }),
    batchesBy({ profile }),
    batchesBy({ submitter }),
    batchesBy({ q: "Delivery 1" }),
    batchesBy({ q: "nowhere to be found" }),
    page("batch", () => admin.call(ADMIN.batch, { params: { id: batch } })),
    page("batchJobs", () => admin.call(ADMIN.batchJobs, { params: { id: batch } })),
    page("batchJobs failed", () =>
      admin.call(ADMIN.batchJobs, { params: { id: batch }, query: { outcome: "failed" } }),
    ),
    page("job", () => admin.call(ADMIN.job, { params: { id: job } })),
    jobsBy({}),
    jobsBy({ limit: 200 }),
    ...JOB_STATES.filter((state) => ["Pending", "Failed", "Completed"].includes(state)).map((state) =>
      jobsBy({ state }),
    ),
    jobsBy({ batch }),
    jobsBy({ profile }),
    jobsBy({ state: "Failed", profile }),
    jobsBy({ profile: "nobody_has_it" }),
    jobsBy({ error_code }),
    jobsBy({ state: "Failed", error_code }),
    jobsBy({ state: "Failed", error_code: "NAME_REFUSED" }),
    jobsBy({ q: job }),
    jobsBy({ q: `sheet-${String(jobs - 1).padStart(6, "0")}` }),
    jobsBy({ state: "Failed", q: "nowhere to be found" }),
    jobsBy({}, depositor, " as depositor"),
    jobsBy({ state: "Failed" }, depositor, " as depositor"),
  ];
}
