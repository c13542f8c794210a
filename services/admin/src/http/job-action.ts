/** What is asked of a job, as an order of the queue. */
import { type Problem, problem } from "@sluice/http-api";
import type { JobOrder } from "@sluice/queue-core";
import type { JobRequest } from "@sluice/wire";

type Wish = Pick<JobRequest, "action" | "at" | "priority">;

export const wrongField = (pointer: string, detail: string): { readonly problem: Problem } => ({
  problem: problem("INVALID_REQUEST", "one field is wrong or missing in the body", { errors: [{ pointer, detail }] }),
});

export function orderOf({ action, at, priority }: Wish): { readonly order: JobOrder } | { readonly problem: Problem } {
  if (at !== undefined && action !== "resume") return wrongField("/at", "only a resume has a place to go on");
  if (priority !== undefined && action !== "priority") return wrongField("/priority", "only for the action priority");
  switch (action) {
    case "priority":
      return priority === undefined
        ? wrongField("/priority", "which priority? 0 is first, 99 is last")
        : { order: { action, priority } };
    case "resume":
      return { order: at === undefined ? { action } : { action, at } };
    default:
      return { order: { action } };
  }
}
