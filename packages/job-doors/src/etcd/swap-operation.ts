/** The etcd document's compare-and-swap: how a worker claims a job, says how far it is, and ends it. */
import { type Before, callerOf, operation, type Operation, type Problem, problem, readInput } from "@sluice/http-api";
import { containerPhase, isStatus, type JobRecord, readData, type SwapJob } from "@sluice/job-queue";
import { z } from "zod";
import { heardQueue } from "../heard.ts";
import { problemOf } from "../http/answers.ts";
import type { JobPorts } from "../http/ports.ts";
import { statusOnly, UNKNOWN_OUTCOME } from "../queue-port.ts";
import { describeOne } from "./gather.ts";
import { jobId, problems, tenant } from "./parameters.ts";
import { readValue } from "./read-value.ts";
import { EtcdSwapped, SwappedJob } from "./schema.ts";
import { containerJob, nodeOf } from "./view.ts";

/** A worker of the document beats "every few minutes". */
const CLAIM_MS = 300_000;

const BLIND = problem(
  "INVALID_REQUEST",
  "prevIndex or prevValue is required: a job is changed only if it is as its caller has read it",
);

export function swapJob(ports: JobPorts, before: <P extends z.ZodType>() => Before<P>): Operation {
  const spec = {
    id: "etcdSwapJob",
    method: "put",
    path: "/v2/keys/jobs/{id}",
    group: "etcd",
    summary: "Compare and swap: the job becomes `value` if it is as prevIndex or prevValue say",
    permission: "use-jobs",
    params: z.strictObject({ id: jobId }),
    query: z.strictObject({
      tenant,
      prevIndex: z.coerce.number("expected a modifiedIndex").int().min(0).optional(),
      prevValue: z.string().optional().describe("the node's value, byte for byte"),
      prevExist: z.enum(["true"]).optional(),
    }),
    body: {
      unread: {
        "application/json": SwappedJob,
        "application/x-www-form-urlencoded": z.object({ value: z.string().describe("the same as JSON text") }),
      },
    },
    responses: { 200: { description: "it was swapped", content: { "application/json": EtcdSwapped } } },
    problems: [...problems, "CONFLICT", "PRECONDITION_FAILED"],
  } as const;
  return operation(
    spec,
    async ({ params: { id }, query }, request, response) => {
      const body = await readValue(request);
      if ("problem" in body) return body;
      const read = readInput(SwappedJob, body.value);
      if (!read.ok) return { problem: read.problem };
      const { prevIndex } = query;
      const prevValue = query.prevValue ?? body.fields.get("prevValue") ?? undefined;
      const of = query.tenant;
      const found = await describeOne(ports, of, id);
      const job = "problem" in found ? found : containerJob(found.found);
      if ("problem" in job) return job;
      if (prevIndex === undefined && prevValue === undefined) return { problem: BLIND };
      const failed = compareProblem(job.found, { prevIndex, prevValue });
      if (failed !== null) return { problem: failed };
      const command = commandOf(of, job.found, read.value);
      if ("problem" in command) return command;
      const queue = heardQueue(ports.queue, ports.hear, { door: "etcd", caller: callerOf(response).name });
      const refused = problemOf((await queue.ask(of, command)) ?? statusOnly(UNKNOWN_OUTCOME));
      if (refused !== null) return { problem: refused };
      const now = await describeOne(ports, of, id);
      if ("problem" in now) return now;
      const [node, prevNode] = [nodeOf(now.found, "jobs"), nodeOf(job.found, "jobs")];
      return { status: 200, body: { action: "compareAndSwap", node, prevNode } };
    },
    before(),
  );
}

interface Compared {
  readonly prevIndex: number | undefined;
  readonly prevValue: string | undefined;
}

/** What was read; that it is still so when it is written is the owner's to say. */
function compareProblem(record: JobRecord, { prevIndex, prevValue }: Compared): Problem | null {
  const { modifiedIndex, value } = nodeOf(record, "jobs");
  const isIndex = prevIndex === undefined || prevIndex === modifiedIndex;
  const isValue = prevValue === undefined || prevValue === value;
  if (isIndex && isValue) return null;
  const cause = isIndex ? "the value is another" : `[${prevIndex} != ${modifiedIndex}]`;
  return problem("PRECONDITION_FAILED", `Compare failed: ${cause}`);
}

function commandOf(
  of: string,
  { jobID, version, state }: JobRecord,
  { Container, Fileset = {}, Owner, States, Result }: SwappedJob,
): SwapJob | { readonly problem: Problem } {
  if (version === undefined) return { problem: problem("CONFLICT", "this job has ended and left the queue") };
  const data = readData(JSON.stringify({ Container, Fileset }));
  if (isStatus(data)) return { problem: problem("INVALID_REQUEST", data.text) };
  const last = States.at(-1);
  const phase = last?.State ?? "QUEUED";
  if (phase === "STARTED" && (Owner ?? "") === "")
    return { problem: problem("INVALID_REQUEST", "Owner is required of a job that is STARTED") };
  return {
    verb: "SwapJob",
    tenant: of,
    id: jobID,
    version,
    from: containerPhase(state),
    phase,
    worker: Owner ?? "",
    data,
    step: last?.Step ?? "",
    outcome: Result == null ? null : { isWell: Result.Status === "SUCCESS", info: Result.Info },
    leaseMs: CLAIM_MS,
  };
}
