/** The queue's commands as HTTP operations: one per verb, with the document's names. */
import { ANSWERED, type Handled, operation, type Operation, type Problem } from "@sluice/http-api";
import { isStatus, isTenant, readCommand, type Reply } from "@sluice/job-queue";
import { z } from "zod";
import { type Answer, giveBack, type QueuePort, statusOnly, textsOf, UNKNOWN_OUTCOME } from "../queue-port.ts";
import { jsonOf, problemOf } from "./answers.ts";
import {
  COMMAND_ANSWERS,
  COMMAND_BODIES,
  type CommandVerb,
  ListAnswerSchema,
  RenewAnswerSchema,
  RenewBodySchema,
} from "./schemas.ts";

type Response = Parameters<Parameters<typeof operation>[1]>[2];

export interface JobOperationsPorts {
  readonly queue: QueuePort;
  /** Why the caller may not ask for this tenant; null: they may. */
  readonly refuse: (response: Response, tenant: string) => Problem | null;
}

/** The document's status, whose number HTTP has no room for. */
const STATUS_HEADER = "Job-Status";
const WAIT_MS = 110_000;
/** A CreateJobs of ten thousand. */
const BODY_BYTES = 4 * 1024 * 1024;

const params = z.strictObject({ tenant: z.string().refine(isTenant, "a-z, 0-9 and -, up to 64") });
const group = "Jobs";
const headers = { [STATUS_HEADER]: "the status in the words of the document, such as 402 Missing name" };
const problems = ["NOT_FOUND", "CONFLICT", "UNAVAILABLE", "FORBIDDEN"] as const;

export function jobOperations(ports: JobOperationsPorts): Operation[] {
  const verbs = Object.keys(COMMAND_BODIES) as CommandVerb[];
  return [...verbs.map((verb) => commandOperation(verb, ports)), renewOperation(ports), listOperation(ports)];
}

function commandOperation(verb: CommandVerb, { queue, refuse }: JobOperationsPorts): Operation {
  const answers = { 200: { description: "done", headers, content: { "application/json": COMMAND_ANSWERS[verb] } } };
  return operation(
    {
      id: `${verb.charAt(0).toLowerCase()}${verb.slice(1)}`,
      method: "post",
      path: `/v1/tenants/{tenant}/commands/${verb}`,
      group,
      summary: verb,
      params,
      body: { json: COMMAND_BODIES[verb] as z.ZodType<Readonly<Record<string, unknown>>>, limitBytes: BODY_BYTES },
      responses: answers,
      problems,
    },
    async ({ params: { tenant }, body }, _request, response) => {
      const refused = refuse(response, tenant);
      if (refused !== null) return { problem: refused };
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const answer = await ask(queue, verb, tenant, body, gone.signal);
      if (gone.signal.aborted) await giveBack(queue, tenant, answer);
      return send(response, answer);
    },
  );
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

function renewOperation({ queue, refuse }: JobOperationsPorts): Operation {
  return operation(
    {
      id: "renewLeases",
      method: "post",
      path: "/v1/tenants/{tenant}/commands/RenewLeases",
      group,
      summary: "RenewLeases: still at it; the answer names the jobs that are no longer the caller's",
      params,
      body: { json: RenewBodySchema, limitBytes: BODY_BYTES },
      responses: { 200: { description: "done", headers, content: { "application/json": RenewAnswerSchema } } },
      problems,
    },
    async ({ params: { tenant }, body }, _request, response) => {
      const refused = refuse(response, tenant);
      if (refused !== null) return { problem: refused };
      const leases = body.leases.map(({ jobID, lease }) => ({ id: jobID, token: lease }));
      return send(response, await queue.ask(tenant, { verb: "RenewLeases", tenant, leases }));
    },
  );
}

function listOperation({ queue, refuse }: JobOperationsPorts): Operation {
  return operation(
    {
      id: "listJobs",
      method: "get",
      path: "/v1/tenants/{tenant}/jobs",
      group,
      summary: "All jobs of a tenant, oldest first",
      params,
      responses: { 200: { description: "the jobs", headers, content: { "application/json": ListAnswerSchema } } },
      problems,
    },
    async ({ params: { tenant } }, _request, response) => {
      const refused = refuse(response, tenant);
      if (refused !== null) return { problem: refused };
      return send(response, await queue.ask(tenant, { verb: "ListJobs", tenant }));
    },
  );
}

function send(response: Response, answer: Answer): Handled {
  const reply: Reply = answer ?? statusOnly(UNKNOWN_OUTCOME);
  response.set(STATUS_HEADER, `${reply.status.code} ${reply.status.text}`);
  const found = problemOf(reply);
  if (found !== null) return { problem: found };
  response.status(200).type("application/json").send(jsonOf(reply.content));
  return ANSWERED;
}
