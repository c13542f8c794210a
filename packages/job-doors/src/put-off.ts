/** Commands for whose answer nobody waits: those that are forgotten, and those for a later time. */
import type { Command, CreateJobs, Reply, Status } from "@sluice/job-queue";
import type { Errands } from "./bedrock/errands.ts";
import type { Timing } from "./bedrock/timing.ts";
import type { Still } from "./still.ts";
import { giveBack, type QueuePort, statusOnly, UNKNOWN_OUTCOME } from "./queue-port.ts";

export interface PutOffPorts {
  readonly queue: QueuePort;
  readonly errands: Errands;
  readonly now: () => number;
  /** Asked when its time has come: whoever has no token any more has no command carried out either. */
  readonly still: Still;
}

const ACCEPTED: Status = { code: 202, text: "Successfully queued" };
const AGAIN_MS = 60_000;
const FULL: Status = { code: 503, text: "Too many commands wait for their time", retryAfterMs: AGAIN_MS };
const tooFar = (mostMs: number): Status => ({
  code: 402,
  text: `commandExecuteTime is more than ${Math.floor(mostMs / 1_000)} seconds ahead, which is the limit`,
});
const tenantFull = (tenant: string, most: number): Status => ({
  code: 429,
  text: `${most} commands of tenant ${tenant} wait for their time: that is the limit`,
  retryAfterMs: AGAIN_MS,
});

export const isPutOff = ({ forget, executeAt }: Timing): boolean => forget || executeAt !== null;

export function putOff(ports: PutOffPorts, tenant: string, command: Command, timing: Timing): Promise<Reply> {
  return command.verb === "CreateJobs"
    ? createForLater(ports, tenant, command, timing)
    : Promise.resolve(accept(ports, tenant, command, timing));
}

/** Accepted means written, so that nothing accepted is lost; a later time becomes the time of the first run. */
async function createForLater(
  { queue }: PutOffPorts,
  tenant: string,
  command: CreateJobs,
  { executeAt }: Timing,
): Promise<Reply> {
  const at = executeAt ?? 0;
  const jobs =
    executeAt === null
      ? command.jobs
      : command.jobs.map((job) => ({ ...job, firstRun: Math.max(job.firstRun ?? 0, at) }));
  const answer = await queue.ask(tenant, { ...command, jobs });
  if (answer === null) return statusOnly(UNKNOWN_OUTCOME);
  return statusOnly(answer.status.code === 200 ? ACCEPTED : answer.status);
}

/** Nobody hears the answer: jobs that it holds go back. */
function accept(ports: PutOffPorts, tenant: string, command: Command, { executeAt }: Timing): Reply {
  const { queue, errands, now, still } = ports;
  const errand = async (): Promise<void> => {
    if (executeAt !== null && !(await still()))
      throw new Error(`${command.verb} of tenant ${tenant} was not carried out: its caller's token has ended`);
    await giveBack(queue, tenant, await queue.ask(tenant, command));
  };
  switch (errands.accept(tenant, executeAt === null ? 0 : executeAt - now(), errand)) {
    case "too-far":
      return statusOnly(tooFar(errands.limits.delayMs));
    case "accepted":
      return statusOnly(ACCEPTED);
    case "tenant-full":
      return statusOnly(tenantFull(tenant, errands.limits.perTenant));
    case "full":
      return statusOnly(FULL);
  }
}
