/** The lines of the serverless document that job-apis keep by themselves; journal, runners, router and scheduler have the others. */
import { expect } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import type { Bench, LogLine } from "./bench.ts";
import { archiveOldRun } from "./old-run.ts";
import { good, type Rest } from "./rest.ts";

export interface Stand {
  readonly rest: Rest;
  /** The case's own client. */
  readonly client: string;
  readonly logLines: Bench["logLines"];
  readonly archiveFolder: string;
}

export interface ServerlessCase {
  readonly says: string;
  readonly run: (stand: Stand) => Promise<void>;
}

interface Taken {
  readonly jobID: number;
  readonly lease: string;
  readonly data: { readonly payload?: string };
}

const command = ({ rest, client }: Stand, verb: string, body: object) =>
  rest("POST", `/v1/tenants/${client}/commands/${verb}`, body);
async function add({ rest, client }: Stand, type: string, ...payloads: readonly string[]): Promise<readonly number[]> {
  const { status, text } = await rest("POST", `/${client}/job/${type}/add`, payloads.join("\n"));
  if (status !== 200) throw new Error(`${status} ${text}`);
  return text.trim().split("\n").map(Number);
}
/** As soon as what was accepted has come in. */
const take = (stand: Stand, type: string, more: object = {}): Promise<Taken> =>
  good<Taken>(command(stand, "GetJob", { name: type, connection: "wait", timeout: 30_000, worker: "daemon", ...more }));
const statusOf = async (stand: Stand, type: string): Promise<string> =>
  (await command(stand, "GetJob", { name: type })).said;
interface Described {
  readonly state: string;
  readonly exit: number | null;
  readonly owner: string;
}
const describeJob = ({ rest, client }: Stand, id: number): Promise<Described> =>
  good<Described>(rest("GET", `/v1/tenants/${client}/jobs/${id}`));
const NO_JOB = "404 No job found";

export const SERVERLESS: Readonly<Record<string, ServerlessCase>> = {
  M1: {
    says: "jobs are added a payload per line, blank ones skipped, at any daemon; the answer is their ids",
    run: async (stand) => {
      const ids = [...(await add(stand, "mail", "a", "", "  ", "b|c")), ...(await add(stand, "mail", "d"))];
      expect(new Set(ids).size).toBe(3);
      const taken = [await take(stand, "mail"), await take(stand, "mail"), await take(stand, "mail")];
      expect(new Map(taken.map(({ jobID, data }) => [jobID, data.payload]))).toEqual(
        new Map(["a", "b|c", "d"].map((payload, i) => [ids[i], payload])),
      );
    },
  },
  M2: {
    says: "a client never sees, runs or names another one's jobs and handlers",
    run: async (stand) => {
      const [id] = await add(stand, "mail", "secret");
      const other = { ...stand, client: `${stand.client}-other` };
      expect(await statusOf(other, "*")).toBe(NO_JOB);
      for (const verb of ["QueryJob", "FinishJob", "DeleteJob", "CancelJob", "FailJob"])
        expect((await command(other, verb, { jobID: id })).said).toBe("404 No job with this jobID");
      expect((await stand.rest("GET", `/v1/tenants/${other.client}/jobs/${id}`)).status).toBe(404);
      await good(stand.rest("POST", `/${stand.client}/handler/add/mail/add?method=node`, "return 200"));
      expect((await stand.rest("GET", `/${other.client}/handler/get/mail`)).status).toBe(404);
      await good(command(other, "RequeueJobs", { jobIDs: [id], name: "stolen" }));
      expect((await take(stand, "mail")).jobID).toBe(id);
    },
  },
  M3: {
    says: "handlers are added, read and deleted; the newest version counts, and one can be named",
    run: async ({ rest, client }) => {
      const at = (verb: string, type: string): string => `/${client}/handler/get/${type}`.replace("/get/", `/${verb}/`);
      expect((await rest("GET", at("get", "mail"))).status).toBe(404);
      for (const body of ["return 1", "return 2"])
        await good(rest("POST", `/${client}/handler/add/mail/add?method=node`, body));
      const get = (type: string) => good<{ version: number; body: string }>(rest("GET", at("get", type)));
      expect(await get("mail")).toMatchObject({ version: 2, body: "return 2" });
      expect(await get("mail@1")).toMatchObject({ version: 1, body: "return 1" });
      await good(rest("DELETE", `/${client}/handler/del/mail/delete`));
      expect((await rest("GET", at("get", "mail"))).status).toBe(404);
    },
  },
  M10: {
    says: "a job has an id of its own, a type, times and data; large data stands apart, and comes whole",
    run: async (stand) => {
      const payload = "x".repeat(500_000);
      const [id] = await add(stand, "large", payload);
      const taken = await take(stand, "large");
      expect([taken.jobID, taken.data.payload]).toEqual([id, payload]);
    },
  },
  M11: {
    says: "a job can be had when its time has come and nobody has it",
    run: async (stand) => {
      await good(command(stand, "CreateJob", { name: "later", firstRun: "2100-01-01" }));
      expect(await statusOf(stand, "later")).toBe(NO_JOB);
      await good(command(stand, "CreateJob", { name: "now" }));
      await take(stand, "now");
      expect(await statusOf(stand, "now")).toBe(NO_JOB);
    },
  },
  M12: {
    says: "the types that can run now are listed, with their counts",
    run: async (stand) => {
      const jobs = [{ name: "now" }, { name: "now" }, { name: "later", firstRun: "2100-01-01" }, { name: "had" }];
      await good(command(stand, "CreateJobs", { jobs }));
      await take(stand, "had");
      const { items } = await good<{ items: readonly { name: string; ready: number }[] }>(
        stand.rest("GET", `/v1/tenants/${stand.client}/types`),
      );
      expect(items.filter(({ ready }) => ready > 0).map(({ name, ready }) => [name, ready])).toEqual([["now", 2]]);
    },
  },
  M13: {
    says: "daemons that take at once never get the same job",
    run: async (stand) => {
      const jobs = Array.from({ length: 30 }, () => ({ name: "mail" }));
      await good(command(stand, "CreateJobs", { jobs }));
      const takers = Array.from({ length: 6 }, async (_, i) => {
        const { jobs: taken } = await good<{ jobs: readonly Taken[] }>(
          command(stand, "GetJobs", { name: "mail", numResults: 5, worker: `daemon-${i}` }),
        );
        return taken.map(({ jobID }) => jobID);
      });
      const ids = (await Promise.all(takers)).flat();
      expect([ids.length, new Set(ids).size]).toEqual([30, 30]);
    },
  },
  M14: {
    says: "who renews keeps a job; who stops loses it, and another one gets it",
    run: async (stand) => {
      await good(command(stand, "CreateJobs", { jobs: [{ name: "kept" }, { name: "lost" }] }));
      const worker = `${stand.client}-daemon`;
      // One lease for both: when the second is lost, the first lives by its renewals. Longer than a busy machine pauses.
      const LEASE_MS = 5_000;
      const [kept, lost] = [
        await take(stand, "kept", { worker, leaseMs: LEASE_MS }),
        await take(stand, "lost", { worker, leaseMs: LEASE_MS }),
      ];
      const renew = async (): Promise<boolean> => {
        const leases = [{ tenant: stand.client, jobID: kept.jobID, lease: kept.lease }];
        const renewed = await good<{ lost: readonly number[] }>(
          stand.rest("POST", `/v1/workers/${worker}/renew`, { leases }),
        );
        expect(renewed.lost).toEqual([]);
        return (await statusOf(stand, "lost")) === "200 OK";
      };
      await waitFor(renew);
      expect((await describeJob(stand, kept.jobID)).state).toBe("RUNNING");
      const late = await command(stand, "FinishJob", { jobID: lost.jobID, lease: lost.lease });
      expect(late.said).toBe("405 This job was given to another worker");
    },
  },
  M15: {
    says: "a job is given back for later, given back at once, or archived; by its holder alone",
    run: async (stand) => {
      const name = "mail";
      await good(command(stand, "CreateJob", { name }));
      const end = async (verb: string, more: object): Promise<string> => {
        const { jobID, lease } = await take(stand, name);
        expect((await command(stand, verb, { jobID, lease: "1.999999", ...more })).said).toMatch(/^405 /);
        return (await command(stand, verb, { jobID, lease, ...more })).said;
      };
      expect(await end("RetryJob", { delay: 0 })).toBe("200 OK");
      expect(await end("RetryJob", { delay: 3_600 })).toBe("200 OK");
      expect(await statusOf(stand, name)).toBe(NO_JOB);
      await good(command(stand, "CreateJob", { name }));
      expect(await end("FinishJob", { exitCode: 200 })).toBe("200 OK");
      const { items } = await good<{ items: readonly { exit: number }[] }>(
        stand.rest("GET", `/v1/tenants/${stand.client}/runs`),
      );
      expect(items.filter(({ exit }) => exit === 200)).toHaveLength(1);
    },
  },
  M16: {
    says: "what is archived is given to nobody, can still be looked at, and goes when its time is over",
    run: async (stand) => {
      const [id = 0] = await add(stand, "mail", "a");
      const { lease } = await take(stand, "mail");
      await good(command(stand, "FinishJob", { jobID: id, lease, exitCode: 200 }));
      expect(await statusOf(stand, "*")).toBe(NO_JOB);
      expect(await describeJob(stand, id)).toMatchObject({ state: "FINISHED", exit: 200, owner: "daemon" });
      const old = { ...stand, client: `${stand.client}-old` };
      const { jobID: archived } = await good<{ jobID: number }>(command(old, "CreateJob", { name: "old" }));
      await good(command(old, "DeleteJob", { jobID: archived }));
      await archiveOldRun(stand.archiveFolder, old.client, archived);
      const runs = async (): Promise<readonly number[]> => {
        const path = `/v1/tenants/${old.client}/runs`;
        const { items } = await good<{ items: readonly { jobID: number }[] }>(stand.rest("GET", path));
        return items.map(({ jobID }) => jobID);
      };
      expect(await runs()).toEqual([archived]);
      const keep = { what: "runs", older_than_ms: 365 * 24 * 3_600_000 };
      await good(stand.rest("POST", "/v1/purge", keep));
      expect(await runs()).toEqual([archived]);
      await good(stand.rest("POST", "/v1/purge", { what: "runs" }));
      expect(await runs()).toEqual([]);
      expect(await describeJob(stand, id)).toMatchObject({ state: "FINISHED" });
    },
  },
  M22: {
    says: "a result is kept with the exit code, and can be handed on to a job of another type",
    run: async (stand) => {
      await good(command(stand, "CreateJob", { name: "first", onFinish: "second" }));
      const { jobID, lease } = await take(stand, "first");
      const result = "r".repeat(2_000_000);
      await good(command(stand, "FinishJob", { jobID, lease, exitCode: 201, result }));
      const kept = await good<{ exit: number; result: string }>(
        stand.rest("GET", `/v1/tenants/${stand.client}/jobs/${jobID}/result`),
      );
      expect([kept.exit, kept.result === result]).toEqual([201, true]);
      expect((await take(stand, "second")).jobID).toBeGreaterThan(jobID);
    },
  },
  M25: {
    says: "a client with one job behind one with many has its turn soon; who is alone gets everything",
    run: async (stand) => {
      const small = { ...stand, client: `${stand.client}-small` };
      await good(command(stand, "CreateJobs", { jobs: Array.from({ length: 300 }, () => ({ name: "many" })) }));
      await good(command(small, "CreateJob", { name: "one" }));
      const tenants = [stand.client, small.client];
      const pick = async (limit: number): Promise<readonly string[]> => {
        const body = { worker: "daemon", tenants, limit };
        const { jobs } = await good<{ jobs: readonly { tenant: string }[] }>(stand.rest("POST", "/v1/take", body));
        return jobs.map(({ tenant }) => tenant);
      };
      const picked: string[] = [];
      while (picked.length < 10) picked.push(...(await pick(1)));
      expect(picked).toContain(small.client);
      const rest = [...(await pick(100)), ...(await pick(100))];
      expect([rest.length, new Set(rest)]).toEqual([200, new Set([stand.client])]);
    },
  },
  M28: {
    says: "from the log alone it can be told which jobs came in, ran and ended",
    run: async (stand) => {
      const ids = await add(stand, "mail", "a", "b", "c");
      const { jobID, lease } = await take(stand, "mail");
      await take(stand, "mail");
      await good(command(stand, "FinishJob", { jobID, lease, exitCode: 200 }));
      const told = async (what: string): Promise<readonly unknown[]> => {
        const lines = (await stand.logLines()).filter((line) => line["tenant"] === stand.client);
        return lines.filter((line) => line["what"] === what).flatMap((line) => line["jobs"]);
      };
      await waitFor(async () => (await told("ended")).length > 0);
      expect([await told("came"), (await told("taken")).length, await told("ended")]).toEqual([ids, 2, [jobID]]);
      await good(command(stand, "CreateJob", { name: "lost" }));
      const lost = await take(stand, "lost", { leaseMs: 1_000 });
      const isLost = ({ job, why, tenant }: LogLine): boolean =>
        tenant === stand.client && job === lost.jobID && why === "its lease ran out";
      await waitFor(async () => (await stand.logLines()).some(isLost));
      expect(JSON.stringify(await stand.logLines())).not.toContain('"payload"');
    },
  },
  M29: {
    says: "jobs are taken in small batches, and a bad one does not fail the others",
    run: async (stand) => {
      await good(command(stand, "CreateJobs", { jobs: Array.from({ length: 4 }, () => ({ name: "mail" })) }));
      const { jobs } = await good<{ jobs: readonly Taken[] }>(
        command(stand, "GetJobs", { name: "mail", numResults: 3, worker: "daemon" }),
      );
      expect(jobs).toHaveLength(3);
      const ends = jobs.map(({ jobID, lease }, i) =>
        good(command(stand, i === 1 ? "FailJob" : "FinishJob", { jobID, lease })),
      );
      await Promise.all(ends);
      const states = await Promise.all(jobs.map(async ({ jobID }) => (await describeJob(stand, jobID)).state));
      expect(states).toEqual(["FINISHED", "FAILED", "FINISHED"]);
    },
  },
};
