/**
 * Whoever has no more than the right to schedule deposits: of the fleet's own jobs they may make, see and end those that
 * deposit, and nothing else.
 */
import { type Problem, problem } from "@sluice/http-api";
import { SYSTEM_TENANT } from "@sluice/job-queue";
import type { JobPorts } from "./ports.ts";

/** The type of the fleet's jobs that deposit; a part of their names may follow. */
const DEPOSITS = "fleet/deposit";

export const NOT_A_SCHEDULE = problem(
  "FORBIDDEN",
  `a scheduler may make, see and cancel jobs named ${DEPOSITS} of tenant ${SYSTEM_TENANT}, and nothing else`,
);

const isDeposit = (name: unknown): boolean =>
  typeof name === "string" && (name === DEPOSITS || name.startsWith(`${DEPOSITS}/`));

/** Names, or patterns of names; null: they may. */
export function namesProblem(names: readonly unknown[]): Problem | null {
  return names.length > 0 && names.every(isDeposit) ? null : NOT_A_SCHEDULE;
}

/** What a job is called never changes, so it may be asked before. Of others' jobs they do not learn whether they exist. */
export async function jobProblem({ queue }: Pick<JobPorts, "queue">, id: unknown): Promise<Problem | null> {
  if (typeof id !== "number") return NOT_A_SCHEDULE;
  const answer = await queue.ask(SYSTEM_TENANT, { verb: "DescribeJob", tenant: SYSTEM_TENANT, id });
  if (answer === null) return problem("UNAVAILABLE", "the queue's tree cannot be reached", { retryAfterSeconds: 2 });
  const name = answer.content.kind === "record" ? answer.content.record.name : null;
  return isDeposit(name) ? null : NOT_A_SCHEDULE;
}
