/** Taking, renewing and giving back, for those who serve several tenants; and who they are. */
import { type Caller, may } from "@sluice/access";
import { ANSWERED, isStillCaller, type Operation, type Problem, problem, requestIdOf } from "@sluice/http-api";
import { fetchLarge, type Reply, STATUS, SYSTEM_TENANT, type TakenView } from "@sluice/job-queue";
import { JOBS } from "@sluice/wire";
import { z } from "zod";
import { giveBack } from "../queue-port.ts";
import { TOKEN_ENDED } from "../still.ts";
import { printTaken } from "./answers.ts";
import { audited } from "./audit.ts";
import { narrowedBy } from "./narrow-take.ts";
import type { JobPorts, TakenOfTenant } from "./ports.ts";
import { patienceOf, serve, SILENCE } from "./serve.ts";
import { tenantProblem } from "./tenancy.ts";

export const workerOperations = (ports: JobPorts): readonly Operation[] => [
  serve(
    JOBS.takeJobs,
    async ({ body, caller, response }) => {
      const { worker, tenants = caller.tenants, limit, waitMs } = body;
      const { gone, over } = patienceOf(response, ports.leaving);
      const without = may(caller, "act-on-fleet-jobs").ok ? [] : [SYSTEM_TENANT];
      const wanted = tenants === "all" ? tenants : tenants.filter((tenant) => !without.includes(tenant));
      const asked = { worker, tenants: wanted, without, limit, waitMs, gone: over };
      const jobs = await whole(ports, await ports.take({ ...asked, ...narrowedBy(body, ports) }));
      const isStill = jobs.length === 0 || (await isStillCaller(response));
      if (gone.aborted || !isStill) {
        await ungive(ports, jobs);
        return isStill ? ANSWERED : { problem: problem("UNAUTHENTICATED", TOKEN_ENDED.text) };
      }
      tellTaken(ports, jobs, { caller: caller.name, worker });
      return { json: `{"jobs":[${jobs.map(printFairly).join(",")}]}` };
    },
    { refuses: (body, caller) => refusalOf(namedIn(body), caller) },
  ),
  serve(
    JOBS.renewLeases,
    async ({ body }) => {
      const byTenant = new Map<string, { readonly id: number; readonly token: string }[]>();
      for (const { tenant, jobID, lease } of body.leases) {
        const own = byTenant.get(tenant) ?? [];
        own.push({ id: jobID, token: lease });
        byTenant.set(tenant, own);
      }
      const asked = [...byTenant].map(([tenant, leases]) =>
        ports.queue.ask(tenant, { verb: "RenewLeases", tenant, leases }),
      );
      // A shard that does not answer has lost nobody's lease: its next owner gives each its full time.
      const lost = (await Promise.all(asked)).flatMap((answer) =>
        answer?.content.kind === "lost" ? [...answer.content.ids] : [],
      );
      return { value: { lost } };
    },
    { refuses: (body, caller) => refusalOf(leasedIn(body), caller) },
  ),
  serve(JOBS.releaseWorker, ({ params: { worker }, query: { reason }, caller, response }) => {
    // A worker that ends gives its own jobs back, and gives no reason.
    if (reason === undefined) return release(ports, worker);
    const order = { caller, requestId: requestIdOf(response), action: "worker.release", target: worker, reason };
    return audited(ports.audit, order, () => release(ports, worker));
  }),
  serve(JOBS.listWorkers, async () => {
    const workers = await ports.workers();
    return workers === null ? SILENCE : { value: { items: [...workers] } };
  }),
];

async function release(
  { everyShard }: JobPorts,
  worker: string,
): Promise<{ readonly value: { jobIDs: number[] } } | { readonly problem: Problem }> {
  const answers = [...(await everyShard({ verb: "ReleaseWorker", worker })).values()];
  const released = answers.flatMap((answer) => (answer?.content.kind === "released" ? [...answer.content.ids] : []));
  const isWhole = answers.every((answer) => answer?.content.kind === "released");
  if (isWhole) return { value: { jobIDs: released.sort((a, b) => a - b) } };
  return { problem: problem("UNAVAILABLE", "not every shard could be asked: ask again", { retryAfterSeconds: 1 }) };
}

/** As far as it can be read: what is wrong with the rest is not said to callers of other tenants. */
const Named = z.looseObject({ tenants: z.array(z.string()) });
const namedIn = (body: unknown): readonly string[] => Named.safeParse(body).data?.tenants ?? [];
const Leased = z.looseObject({ leases: z.array(z.looseObject({ tenant: z.string() })) });
const leasedIn = (body: unknown): readonly string[] =>
  Leased.safeParse(body).data?.leases.map(({ tenant }) => tenant) ?? [];

function refusalOf(tenants: readonly string[], caller: Caller): Problem | null {
  for (const tenant of new Set(tenants)) {
    const refused = tenantProblem(caller, tenant, "act");
    if (refused !== null) return refused;
  }
  return null;
}

/** A line for each tenant. */
function tellTaken(
  { hear }: JobPorts,
  jobs: readonly TakenOfTenant[],
  by: { readonly caller: string; readonly worker: string },
): void {
  for (const tenant of new Set(jobs.map((job) => job.tenant))) {
    const own = jobs.filter((job) => job.tenant === tenant);
    const names = [...new Set(own.map(({ name }) => name))];
    const [ids, runs] = [own.map(({ jobID }) => jobID), own.map(({ token }) => token)];
    hear({ what: "taken", door: "http", ...by, tenant, ids, names, runs });
  }
}

const printFairly = ({ tenant, token, ...view }: TakenOfTenant): string =>
  `${printTaken(view, token).slice(0, -1)},"tenant":${JSON.stringify(tenant)}}`;

/** With the data that stands in the store. What the store has lost is nobody's to run: its lease lapses. */
async function whole({ blobs }: JobPorts, jobs: readonly TakenOfTenant[]): Promise<readonly TakenOfTenant[]> {
  const filled = jobs.map(async ({ tenant, token, ...view }): Promise<TakenOfTenant[]> => {
    const reply = await fetchLarge(takenOf(view, token), blobs);
    const taken = reply?.content.kind === "taken" ? reply.content.jobs : [];
    return taken.map((job) => ({ ...job.view, tenant, token }));
  });
  return (await Promise.all(filled)).flat();
}

const takenOf = (view: TakenView, token: string): Reply => ({
  status: STATUS.ok,
  content: { kind: "taken", jobs: [{ view, token }], single: false },
});

/** As if they had not been taken. */
async function ungive({ queue }: JobPorts, jobs: readonly TakenOfTenant[]): Promise<void> {
  for (const { tenant, token, ...view } of jobs) {
    await giveBack(queue, tenant, takenOf(view, token));
  }
}
