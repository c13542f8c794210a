/** Jobs of the general queue in a drill: each with data of its own, and a ledger of what was answered 2xx and of every run that ended. */
import { openJobs } from "@sluice/job-client";
import { waitFor } from "@sluice/testkit";
import type { Running } from "../fleet.ts";

export interface QueuedJobs {
  /** What was answered 2xx: the job's id, and what it says. */
  readonly accepted: ReadonlyMap<number, string>;
  /** Runs whose end was answered 2xx. */
  readonly ended: readonly { readonly id: number; readonly says: string }[];
  /** By CreateJob: it stands in the queue when it is answered. */
  make(says: string): Promise<number>;
  /** As a line: it is on the disk of whoever took it. */
  add(says: string): Promise<number>;
  /** Takes so many jobs and ends them. */
  work(jobs: number): Promise<void>;
  /** Takes one and leaves it: nobody hears of its worker again. */
  take(): Promise<number>;
  /** Until none is left. */
  workAll(): Promise<void>;
  /** Of those that were accepted, which are not there, do not say what they said, or have not ended exactly once. */
  faults(): Promise<readonly string[]>;
  at(api: Running): void;
  close(): Promise<void>;
}

const TENANT = "drill";
const TYPE = "work";

export function openQueuedJobs(first: Running): QueuedJobs {
  const accepted = new Map<number, string>();
  const ended: { id: number; says: string }[] = [];
  let url = first.url;
  let jobs = openJobs({ urls: [url], tenant: TENANT, worker: "drill" });
  const take = async () => {
    const got = await jobs.getJob({ name: TYPE });
    if (!got.ok || got.value === null) return null;
    const { payload } = got.value.data as { readonly payload: string };
    return { id: got.value.jobID, says: payload, lease: got.value.lease };
  };
  const workOne = async (): Promise<boolean> => {
    const job = await take();
    const done = job !== null && (await jobs.finish(job.id, { lease: job.lease, result: job.says }));
    if (job !== null && done !== false && done.ok) ended.push(job);
    return done !== false && done.ok;
  };
  return {
    accepted,
    ended,
    async make(says) {
      const made = await jobs.createJob({ name: TYPE, data: { payload: says } });
      if (!made.ok) throw new Error(`${says}: ${JSON.stringify(made)}`);
      accepted.set(made.value, says);
      return made.value;
    },
    async add(says) {
      const init = { method: "POST", headers: { "content-type": "text/plain" }, body: `${says}\n` };
      const told = await waitFor(
        async () => {
          const answer = await fetch(`${url}/${TENANT}/job/${TYPE}/add`, init);
          return answer.status === 200 ? await answer.text() : null;
        },
        { what: `an answer to ${says}` },
      );
      accepted.set(Number(told), says);
      return Number(told);
    },
    async work(count) {
      for (let n = 0; n < count; n++) await waitFor(workOne, { what: "a job to do" });
    },
    take: async () => (await waitFor(take, { what: "a job to take" })).id,
    async workAll() {
      const isLeft = async (): Promise<boolean> => {
        const left = await jobs.list();
        return !left.ok || left.value.items.length > 0;
      };
      await waitFor(async () => !(await workOne()) && !(await isLeft()), {
        what: "the end of all jobs",
        progress: () => String(ended.length),
      });
    },
    async faults() {
      const found: string[] = [];
      for (const [id, says] of accepted) {
        const job = await jobs.describe(id);
        const ends = job.ok ? job.value.runs.filter(({ outcome }) => outcome === "finished") : [];
        const said = ended.filter((run) => run.id === id).map((run) => run.says);
        if (!job.ok || job.value.state !== "FINISHED" || ends.length !== 1 || said.join() !== says)
          found.push(
            `${id} (${says}): ${job.ok ? job.value.state : "gone"}, ended ${ends.length} times, ran as ${said.join()}`,
          );
      }
      for (const { id } of ended) if (!accepted.has(id)) found.push(`${id} was nobody's`);
      return found;
    },
    at(api) {
      void jobs.close();
      url = api.url;
      jobs = openJobs({ urls: [url], tenant: TENANT, worker: "drill" });
    },
    close: () => jobs.close(),
  };
}
