/**
 * Depositors' own deposits for later. The intake keeps them, and knows whose they are: it is asked in the caller's own name, so
 * that who may do what is decided there, once.
 */
import { type Answer, type Client, makeClient } from "@sluice/client";
import { credentialsOf, type Operation, type Problem, problem } from "@sluice/http-api";
import { ADMIN, INTAKE } from "@sluice/wire";
import type { Response } from "express";
import { nothing } from "./answers.ts";
import type { AdminDeps } from "./deps.ts";
import { type Seen, serve } from "./serve.ts";

const NO_INTAKE = {
  problem: problem(
    "UNAVAILABLE",
    "this admin knows no intake: set INTAKE_URL to where a batch-intake listens, such as http://127.0.0.1:8080",
    { retryAfterSeconds: 60 },
  ),
} as const;

export const ownScheduleOperations = ({ intakeUrl }: Pick<AdminDeps, "intakeUrl">): readonly Operation[] => [
  serve(ADMIN.ownSchedules, ({ query, response }) =>
    asked(intakeUrl, response, (client) => client.call(INTAKE.listSchedules, { query })),
  ),
  serve(ADMIN.cancelOwnSchedule, async ({ params, response }) => {
    const answer = await asked(intakeUrl, response, (client) => client.call(INTAKE.cancelSchedule, { params }));
    return "value" in answer
      ? { value: { done: true as const, message: `${params.id}: ${answer.value.message}` } }
      : answer;
  }),
];

async function asked<T>(
  baseUrl: string | null,
  response: Response,
  ask: (client: Client) => Promise<Answer<T>>,
): Promise<Seen<T>> {
  if (baseUrl === null) return NO_INTAKE;
  const token = credentialsOf(response)?.replace(/^Bearer +/i, "");
  const answer = await ask(makeClient({ baseUrl, ...(token === undefined ? {} : { token }) }));
  return answer.ok ? { value: answer.value } : { problem: problemOf(answer) };
}

function problemOf(answer: Extract<Answer<unknown>, { readonly ok: false }>): Problem {
  if (answer.kind === "unreachable")
    return problem("UNAVAILABLE", "the intake does not answer just now", { retryAfterSeconds: 5 });
  const { status, detail } = answer.refusal;
  if (status === 404) return nothing("deposit for later").problem;
  if (status === 403) return problem("FORBIDDEN", detail);
  if (status === 409) return problem("CONFLICT", detail);
  return problem("UNAVAILABLE", detail, { retryAfterSeconds: 5 });
}
