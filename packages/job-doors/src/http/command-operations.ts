/** The queue's commands as HTTP operations: one per verb, with the document's names. */
import { may } from "@sluice/access";
import { ANSWERED, isStillCaller, type Operation, type Problem, requestIdOf } from "@sluice/http-api";
import { type Command, isStatus, readCommand } from "@sluice/job-queue";
import { COMMAND_BODIES, type CommandVerb, type Endpoint, JOBS } from "@sluice/wire";
import { readTiming } from "../bedrock/timing.ts";
import { heardQueue } from "../heard.ts";
import { isPutOff, putOff, type PutOffPorts } from "../put-off.ts";
import { type Answer, giveBack, statusOnly, textsOf } from "../queue-port.ts";
import { watchedQueue } from "../still.ts";
import { audited, type Order } from "./audit.ts";
import type { JobPorts } from "./ports.ts";
import { jobProblem, namesProblem, NOT_A_SCHEDULE } from "./scheduling.ts";
import { patienceOf, sendAnswer, serve } from "./serve.ts";

const VERBS = Object.keys(COMMAND_BODIES) as readonly CommandVerb[];

type CommandPorts = Pick<JobPorts, "queue" | "leaving" | "hear" | "errands" | "now" | "audit">;

export const commandOperations = ({ queue, hear, leaving, errands, now, audit }: CommandPorts): readonly Operation[] =>
  VERBS.map((verb) =>
    serve(
      endpointOf(verb),
      async ({ params, query, body, caller, response }) => {
        const { tenant } = params as { readonly tenant: string };
        const { gone, over } = patienceOf(response, leaving);
        const still = (): Promise<boolean> => isStillCaller(response);
        const heard = heardQueue(watchedQueue(queue, still), hear, { door: "http", caller: caller.name });
        const seals = may(caller, "schedule-deposits").ok;
        const asked = { verb, tenant, body: body as Readonly<Record<string, unknown>>, over, seals };
        const carryOut = async (): Promise<typeof ANSWERED | { readonly problem: Problem }> => {
          const answer = await ask({ queue: heard, errands, now, still }, asked);
          if (gone.aborted) {
            await giveBack(heard, tenant, answer);
            return ANSWERED;
          }
          const sent = sendAnswer(response, answer);
          return sent === ANSWERED || "problem" in sent ? sent : ANSWERED;
        };
        const { reason } = query as { readonly reason?: string };
        if (reason === undefined) return carryOut();
        return audited(audit, { caller, requestId: requestIdOf(response), reason, ...orderOf(asked) }, carryOut);
      },
      { narrow: ({ body }) => schedulingProblem({ queue }, verb, body) },
    ),
  );

/** Of those who may schedule deposits and no more. */
async function schedulingProblem(
  ports: Pick<JobPorts, "queue">,
  verb: CommandVerb,
  body: unknown,
): Promise<Problem | null> {
  const { name, jobID, onFinish, parentJobID } = body as Readonly<Record<string, unknown>>;
  // What such a job brings about besides is for others to ask for.
  if (onFinish !== undefined || parentJobID !== undefined) return NOT_A_SCHEDULE;
  if (verb === "CreateJob") return namesProblem([name]);
  return verb === "CancelJob" || verb === "DeleteJob" ? await jobProblem(ports, jobID) : NOT_A_SCHEDULE;
}

function endpointOf(verb: CommandVerb): Endpoint {
  return JOBS[`${verb.charAt(0).toLowerCase()}${verb.slice(1)}` as Uncapitalize<CommandVerb>];
}

interface Asked {
  readonly verb: CommandVerb;
  readonly tenant: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Who waits for a job waits no longer. */
  readonly over: AbortSignal;
  /** They may make deposits for later. */
  readonly seals: boolean;
}

/** What stands in the audit of it. An UpdateJob names what it changes; its data may hold anything. */
function orderOf({ verb, tenant, body }: Pick<Asked, "verb" | "tenant" | "body">): Pick<Order, "action" | "target"> {
  const of = [body["jobID"], body["jobIDs"], body["name"], body["names"]].find((each) => each !== undefined) ?? "";
  const changes = Object.keys(body).filter((field) => field !== "jobID" && field !== "lease");
  const what = verb === "UpdateJob" ? ` (${changes.join(", ")})` : "";
  return { action: `queue.${verb}${what}`, target: `${tenant}/${textsOf({ of })["of"] ?? ""}` };
}

async function ask(ports: PutOffPorts, { verb, tenant, body, over, seals }: Asked): Promise<Answer> {
  const { worker, connection, timeout, commandExecuteTime, ...fields } = body;
  const caller = typeof worker === "string" && worker !== "" ? named(worker) : UNSEEN;
  const read = readCommand(verb, textsOf(fields), { tenant, caller });
  if (isStatus(read)) return statusOnly(read);
  const command = seals ? sealing(read) : read;
  const told = Object.entries(textsOf({ connection, timeout, commandexecutetime: commandExecuteTime }));
  const timing = readTiming(new Map(told), ports.now());
  if (isStatus(timing)) return statusOnly(timing);
  if (isPutOff(timing)) return putOff(ports, tenant, command, timing);
  if (command.verb !== "GetJobs" || !timing.wait) return ports.queue.ask(tenant, command);
  return ports.queue.wait(tenant, command, timing.timeoutMs, over);
}

/** A single job, as the intake makes them: `then` of a run that ends is not its caller's own wish. */
const sealing = (command: Command): Command =>
  command.verb === "CreateJobs" && command.single
    ? { ...command, jobs: command.jobs.map((job) => ({ ...job, seals: true as const })) }
    : command;

const named = (worker: string): { readonly kind: "worker"; readonly worker: string } => ({ kind: "worker", worker });
const UNSEEN = { kind: "timed", worker: "" } as const;
