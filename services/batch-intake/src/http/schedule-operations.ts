/** Deposits for later: their makers look at them and cancel them, the fleet's runner runs them. */
import { callerOf, endpointSpec, operation, type Operation, problem, type Reply } from "@sluice/http-api";
import { INTAKE } from "@sluice/wire";
import type { z } from "zod";
import { depositorOf } from "../submission/depositor.ts";
import { cancelOwn, listOwn, type Own, seeOwn } from "../submission/own-schedules.ts";
import { runOf } from "../submission/run-schedule.ts";
import { NO_QUEUE, type Schedules } from "../submission/schedule.ts";
import { type HttpDeps, unavailable } from "./deps.ts";
import { SUBMISSION_PROBLEMS } from "./submission-problems.ts";
import { submitNow } from "./submit-now.ts";

const NONE = { problem: problem("NOT_FOUND", "you have no schedule with this number") };

const json = (description: string, answer: z.ZodType | undefined) => ({
  description,
  ...(answer === undefined ? {} : { content: { "application/json": answer } }),
});

export const scheduleOperations = (deps: HttpDeps): readonly Operation[] => [
  operation(
    {
      ...endpointSpec(INTAKE.listSchedules),
      responses: { 200: json("a page", INTAKE.listSchedules.answer) },
      problems: ["UNAVAILABLE"],
    },
    ({ query }, _request, response) =>
      withQueue(deps, async (schedules) => ownReply(await listOwn(schedules, depositorOf(callerOf(response)), query))),
  ),
  operation(
    {
      ...endpointSpec(INTAKE.getSchedule),
      responses: { 200: json("the schedule", INTAKE.getSchedule.answer) },
      problems: ["NOT_FOUND", "UNAVAILABLE"],
    },
    ({ params: { id } }, _request, response) =>
      withQueue(deps, async (schedules) => ownReply(await seeOwn(schedules, depositorOf(callerOf(response)), id))),
  ),
  operation(
    {
      ...endpointSpec(INTAKE.cancelSchedule),
      responses: { 200: json("cancelled", INTAKE.cancelSchedule.answer) },
      problems: ["NOT_FOUND", "UNAVAILABLE"],
    },
    ({ params: { id } }, _request, response) =>
      withQueue(deps, async (schedules) => ownReply(await cancelOwn(schedules, depositorOf(callerOf(response)), id))),
  ),
  operation(
    {
      ...endpointSpec(INTAKE.runSchedule),
      responses: { 202: json("accepted", INTAKE.runSchedule.answer) },
      problems: ["NOT_FOUND", "CONFLICT", "SCHEDULE_ENDED", ...SUBMISSION_PROBLEMS],
    },
    ({ params: { id }, body: { run } }) => withQueue(deps, (schedules) => runNow(deps, schedules, id, run)),
  ),
];

async function withQueue({ schedules }: HttpDeps, act: (schedules: Schedules) => Promise<Reply>): Promise<Reply> {
  return schedules === null ? { problem: unavailable(NO_QUEUE) } : await act(schedules);
}

function ownReply(own: Own<unknown>): Reply {
  switch (own.kind) {
    case "own":
      return { status: 200, body: own.value };
    case "none":
      return NONE;
    case "silence":
      return { problem: unavailable(own.why) };
  }
}

async function runNow(deps: HttpDeps, schedules: Schedules, id: number, run: number): Promise<Reply> {
  const found = await runOf({ schedules, callerById: deps.callerById }, id, run);
  switch (found.kind) {
    case "submit":
      return submitNow(deps, found.depositor, found.batch, found.key);
    case "none":
      return { problem: problem("NOT_FOUND", "there is no schedule with this number") };
    case "refused":
    case "ended":
      deps.onScheduleRefused(id, found.why);
      return { problem: problem(found.kind === "ended" ? "SCHEDULE_ENDED" : "CONFLICT", found.why) };
    case "silence":
      return { problem: unavailable(found.why) };
  }
}
