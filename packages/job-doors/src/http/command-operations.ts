/** The queue's commands as HTTP operations: one per verb, with the document's names. */
import { ANSWERED, type Operation } from "@sluice/http-api";
import { isStatus, readCommand } from "@sluice/job-queue";
import { COMMAND_BODIES, type CommandVerb, type Endpoint, JOBS } from "@sluice/wire";
import { type Answer, giveBack, type QueuePort, statusOnly, textsOf } from "../queue-port.ts";
import type { JobPorts } from "./ports.ts";
import { goneOf, sendAnswer, serve } from "./serve.ts";

const WAIT_MS = 110_000;
const VERBS = Object.keys(COMMAND_BODIES) as readonly CommandVerb[];

type CommandPorts = Pick<JobPorts, "queue" | "leaving">;

export const commandOperations = ({ queue, leaving }: CommandPorts): readonly Operation[] =>
  VERBS.map((verb) =>
    serve(endpointOf(verb), async ({ params, body, response }) => {
      const { tenant } = params as { readonly tenant: string };
      const gone = goneOf(response);
      const over = AbortSignal.any([gone, leaving]);
      const answer = await ask(queue, verb, tenant, body as Readonly<Record<string, unknown>>, over);
      if (gone.aborted) {
        await giveBack(queue, tenant, answer);
        return ANSWERED;
      }
      const sent = sendAnswer(response, answer);
      return sent === ANSWERED || "problem" in sent ? sent : ANSWERED;
    }),
  );

function endpointOf(verb: CommandVerb): Endpoint {
  return JOBS[`${verb.charAt(0).toLowerCase()}${verb.slice(1)}` as Uncapitalize<CommandVerb>];
}

async function ask(
  queue: QueuePort,
  verb: CommandVerb,
  tenant: string,
  body: Readonly<Record<string, unknown>>,
  gone: AbortSignal,
): Promise<Answer> {
  const { worker, connection, timeout, ...fields } = body;
  const caller = typeof worker === "string" && worker !== "" ? named(worker) : UNSEEN;
  const command = readCommand(verb, textsOf(fields), { tenant, caller });
  if (isStatus(command)) return statusOnly(command);
  if (command.verb !== "GetJobs" || connection !== "wait") return queue.ask(tenant, command);
  return queue.wait(tenant, command, typeof timeout === "number" ? timeout : WAIT_MS, gone);
}

const named = (worker: string): { readonly kind: "worker"; readonly worker: string } => ({ kind: "worker", worker });
const UNSEEN = { kind: "timed", worker: "" } as const;
