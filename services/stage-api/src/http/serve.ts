/** An endpoint of the table and what is done for it, behind the check that the caller may work that stage. */
import { inScope } from "@sluice/access";
import {
  ANSWERED,
  callerOf,
  endpointSpec,
  operation,
  type Operation,
  problem,
  type Problem,
  type ProblemCode,
} from "@sluice/http-api";
import type { Endpoint } from "@sluice/wire";
import type { Request, Response } from "express";
import { z } from "zod";
import { type RemoteStage, remoteStage } from "../stages.ts";
import type { StageApiDeps } from "./deps.ts";

export interface Asked<P, B> {
  readonly stage: RemoteStage;
  readonly params: P;
  readonly body: B;
  readonly request: Request;
  readonly response: Response;
}

export type Answered<A> = { readonly value: A } | { readonly problem: Problem } | typeof ANSWERED;

const OfStage = z.object({ stage: z.string() });
const HEADERS = z.object({
  "Idempotency-Key": z.string().max(255).optional().describe("the same for each try of one call"),
});

export function serve<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  { config }: Pick<StageApiDeps, "config">,
  endpoint: Endpoint<P, Q, B, A>,
  handle: (asked: Asked<z.output<P>, z.output<B>>) => Promise<Answered<z.output<A>>>,
  more: { readonly problems: readonly ProblemCode[]; readonly keyed?: true; readonly description?: string },
): Operation {
  const answer = endpoint.answer ?? z.never();
  return operation(
    {
      ...endpointSpec(endpoint),
      ...(more.description === undefined ? {} : { description: more.description }),
      ...(more.keyed === true ? { headers: HEADERS } : {}),
      responses: { [endpoint.status]: { description: "it", content: { "application/json": answer } } },
      problems: ["FORBIDDEN", "NOT_FOUND", "UNAVAILABLE", ...more.problems],
    },
    async ({ params, body }, request, response) => {
      const stage = stageIn(params, config.STAGES);
      if (stage === null) return { problem: noStage };
      const answered = await handle({ stage, params, body, request, response });
      if (answered === ANSWERED || "problem" in answered) return answered;
      return { status: endpoint.status, body: answered.value };
    },
    {
      refusePath: (params, _request, response) => {
        const { stage } = OfStage.parse(params);
        if (!inScope(callerOf(response).stages ?? [], stage))
          return problem("FORBIDDEN", `your token is not for the stage ${stage}`);
        return stageIn(params, config.STAGES) === null ? noStage : null;
      },
    },
  );
}

const noStage = problem("NOT_FOUND", "no such stage can be worked here: the setting STAGES names those that can");

const stageIn = (params: unknown, served: StageApiDeps["config"]["STAGES"]): RemoteStage | null =>
  remoteStage(OfStage.parse(params).stage, served);
