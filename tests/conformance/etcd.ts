/** The lines of the etcd document that job-apis keep by themselves; runners and the registry of workers have the others. */
import { expect } from "@jest/globals";
import { good, type Rest } from "./rest.ts";

interface EtcdJob {
  readonly Id: string;
  readonly Container: Readonly<Record<string, unknown>>;
  readonly Owner: string;
  readonly States: readonly { readonly State: string; readonly Step: string; readonly Date: string }[];
  readonly Result?: { readonly Status: string; readonly Info: string };
}

export interface EtcdCase {
  readonly says: string;
  /** `tenant` is the case's own. */
  readonly run: (rest: Rest, tenant: string) => Promise<void>;
}

const submission = () => ({
  Container: { Config: { Image: "busybox", Cmd: ["true"] } },
  Fileset: { Input: { Name: "in" } },
  States: [{ State: "QUEUED", Step: "", Date: new Date(0).toISOString() }],
});

const keys = (folder: string, tenant: string): string => `/v2/keys/${folder}?plain=true&tenant=${tenant}`;
const list = async (rest: Rest, tenant: string, folder = "jobs"): Promise<readonly EtcdJob[]> =>
  (await good<{ readonly jobs: readonly EtcdJob[] }>(rest("GET", keys(folder, tenant)))).jobs;
const one = (rest: Rest, tenant: string, id: number): Promise<EtcdJob> =>
  good<EtcdJob>(rest("GET", keys(`jobs/${id}`, tenant)));
async function submit(rest: Rest, tenant: string): Promise<number> {
  const made = await good<{ readonly node: { readonly key: string } }>(
    rest("POST", `/v2/keys/jobs?tenant=${tenant}`, submission()),
  );
  return Number(made.node.key.split("/").at(-1));
}

interface Taken {
  readonly jobID: number;
  readonly lease: string;
}
const command = (rest: Rest, tenant: string, verb: string, body: object) =>
  rest("POST", `/v1/tenants/${tenant}/commands/${verb}`, body);
const take = (rest: Rest, tenant: string, worker: string): Promise<Taken> =>
  good<Taken>(command(rest, tenant, "GetJob", { name: "container", worker }));
const release = (rest: Rest, worker: string): Promise<{ readonly jobIDs: readonly number[] }> =>
  good(rest("POST", `/v1/workers/${worker}/release`));
const ids = (jobs: readonly EtcdJob[]): readonly number[] => jobs.map(({ Id }) => Number(Id));

/** Whatever moves meanwhile: what was there before the list was asked for is in it, once. */
async function listWhileMoving(rest: Rest, tenant: string): Promise<void> {
  const known: number[] = [];
  const moving = (async (): Promise<void> => {
    for (let n = 0; n < 40; n++) {
      known.push(await submit(rest, tenant));
      const { jobID, lease } = await take(rest, tenant, "w1");
      const verb = n % 4 === 0 ? "FailJob" : n % 4 === 1 ? "RetryJob" : "FinishJob";
      await good(command(rest, tenant, verb, { jobID, lease, delay: verb === "RetryJob" ? 0 : undefined }));
    }
  })();
  const move = { isOver: false };
  void moving.finally(() => (move.isOver = true));
  do {
    const before = [...known];
    const listed = ids(await list(rest, tenant));
    expect(new Set(listed).size).toBe(listed.length);
    expect(before.filter((id) => !listed.includes(id))).toEqual([]);
  } while (!move.isOver);
  await moving;
  expect(ids(await list(rest, tenant))).toEqual(known);
}

/** However many there are, and each with its step. */
async function manyStates(rest: Rest, tenant: string): Promise<void> {
  const id = await submit(rest, tenant);
  for (let n = 1; n <= 8; n++) {
    const { lease } = await take(rest, tenant, "w1");
    const { States: _, ...data } = submission();
    await good(command(rest, tenant, "UpdateJob", { jobID: id, data, lease, step: `run ${n}` }));
    await good(command(rest, tenant, n < 8 ? "RetryJob" : "FinishJob", { jobID: id, lease }));
  }
  const { States } = await one(rest, tenant, id);
  const runs = Array.from({ length: 8 }, (_, n) => ["QUEUED ", `STARTED run ${n + 1}`]).flat();
  expect(States.map(({ State, Step }) => `${State} ${Step}`)).toEqual([...runs, "FINISHED "]);
}

interface Node {
  readonly key: string;
  readonly value: string;
  readonly modifiedIndex: number;
}
const nodeOf = async (rest: Rest, tenant: string, id: number): Promise<Node> =>
  (await good<{ readonly node: Node }>(rest("GET", `/v2/keys/jobs/${id}?tenant=${tenant}`))).node;

/** As a worker of the document writes it: the node's value, with a state more. */
function become({ value }: Node, owner: string, state: string, more: object = {}): object {
  const job = JSON.parse(value) as EtcdJob;
  return {
    ...job,
    Owner: owner,
    States: [...job.States, { State: state, Step: "", Date: new Date().toISOString() }],
    ...more,
  };
}

/** Claimed by one of several that have read the same, stepped, ended; each write has an index of its own. */
async function compareAndSwap(rest: Rest, tenant: string): Promise<void> {
  const id = await submit(rest, tenant);
  const read = await nodeOf(rest, tenant, id);
  const path = `/v2/keys/jobs/${id}?tenant=${tenant}`;
  expect((await rest("PUT", path, become(read, "w0", "STARTED"))).status).toBe(400);
  const claims = await Promise.all(
    Array.from({ length: 6 }, (_, n) => {
      const prev = n % 2 === 0 ? `prevIndex=${read.modifiedIndex}` : `prevValue=${encodeURIComponent(read.value)}`;
      return rest("PUT", `${path}&${prev}`, become(read, `w${n}`, "STARTED"));
    }),
  );
  expect(claims.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
  const winner = `w${claims.findIndex(({ status }) => status === 200)}`;
  const claimed = await nodeOf(rest, tenant, id);
  expect(JSON.parse(claimed.value)).toMatchObject({
    Owner: winner,
    States: [{ State: "QUEUED" }, { State: "STARTED" }],
  });
  const { States } = JSON.parse(claimed.value) as EtcdJob;
  const stepped = {
    ...JSON.parse(claimed.value),
    States: [...States.slice(0, -1), { ...States.at(-1), Step: "pull" }],
  } as object;
  const swapped = await good<{ readonly node: Node; readonly prevNode: Node }>(
    rest("PUT", `${path}&prevIndex=${claimed.modifiedIndex}`, stepped),
  );
  expect(swapped.prevNode).toEqual(claimed);
  const indexes = [read.modifiedIndex, claimed.modifiedIndex, swapped.node.modifiedIndex];
  const end = become(swapped.node, winner, "FINISHED", { Result: { Status: "SUCCESS", Info: "pushed" } });
  await good(rest("PUT", `${path}&prevIndex=${swapped.node.modifiedIndex}`, end));
  const done = await nodeOf(rest, tenant, id);
  expect(JSON.parse(done.value)).toMatchObject({ Owner: winner, Result: { Status: "SUCCESS", Info: "pushed" } });
  indexes.push(done.modifiedIndex);
  expect([...new Set(indexes)].sort((a, b) => a - b)).toEqual(indexes);
}

/** Whatever their number: no living job is left out, and pages lead on. */
async function longList(rest: Rest, tenant: string): Promise<void> {
  const { States: _, ...data } = submission();
  const jobs = Array.from({ length: 1_010 }, () => ({ name: "container", data }));
  const { jobIDs } = await good<{ readonly jobIDs: readonly number[] }>(command(rest, tenant, "CreateJobs", { jobs }));
  const all = [...jobIDs, await submit(rest, tenant)];
  expect(ids(await list(rest, tenant))).toEqual(all);
  const paged: number[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const page: { readonly jobs: readonly EtcdJob[]; readonly next?: number } = await good(
      rest("GET", `${keys("jobs", tenant)}&after=${after}&limit=600`),
    );
    paged.push(...ids(page.jobs));
    after = page.next;
  }
  expect(paged).toEqual(all);
}

export const ETCD: Readonly<Record<string, EtcdCase>> = {
  E6: {
    says: "workers and jobs are each read at one place",
    run: async (rest, tenant) => {
      const id = await submit(rest, tenant);
      expect(ids(await list(rest, tenant))).toEqual([id]);
      const { node } = await good<{ node: { key: string; dir: boolean } }>(rest("GET", "/v2/keys/workers"));
      expect(node).toMatchObject({ key: "/workers", dir: true });
    },
  },
  E7: {
    says: "new, running and finished are lists of their own; all jobs are in the one list, once",
    run: async (rest, tenant) => {
      const [finished, running, fresh] = [
        await submit(rest, tenant),
        await submit(rest, tenant),
        await submit(rest, tenant),
      ];
      const { lease } = await take(rest, tenant, "w1");
      await take(rest, tenant, "w1");
      await good(command(rest, tenant, "FinishJob", { jobID: finished, lease }));
      for (const [folder, jobs] of [
        ["new", [fresh]],
        ["running", [running]],
        ["finished", [finished]],
        ["jobs", [finished, running, fresh]],
      ] as const)
        expect([folder, ids(await list(rest, tenant, folder))]).toEqual([folder, jobs]);
      await listWhileMoving(rest, `${tenant}-moving`);
    },
  },
  E8: {
    says: "a submission has Container.Config, Fileset and States, which is QUEUED alone",
    run: async (rest, tenant) => {
      const { Container: _c, ...noContainer } = submission();
      const { Fileset: _f, ...noFileset } = submission();
      const { States: _s, ...noStates } = submission();
      const wrong = [
        noContainer,
        noFileset,
        noStates,
        { ...submission(), Container: {} },
        { ...submission(), States: [] },
        { ...submission(), States: [{ State: "STARTED", Step: "", Date: new Date(0).toISOString() }] },
        { ...submission(), States: [...submission().States, ...submission().States] },
      ];
      for (const body of wrong) expect((await rest("POST", `/v2/keys/jobs?tenant=${tenant}`, body)).status).toBe(400);
      expect(await list(rest, tenant)).toEqual([]);
    },
  },
  E9: {
    says: "ids increase, and the list is in the order of submission",
    run: async (rest, tenant) => {
      const made: number[] = [];
      for (let i = 0; i < 5; i++) made.push(await submit(rest, tenant));
      expect([...made].sort((a, b) => a - b)).toEqual(made);
      expect(ids(await list(rest, tenant))).toEqual(made);
      await longList(rest, `${tenant}-long`);
    },
  },
  E10: {
    says: "before it runs a job's Container has its Config alone; what a worker adds keeps it",
    run: async (rest, tenant) => {
      const id = await submit(rest, tenant);
      const { Container } = await one(rest, tenant, id);
      expect(Container).toEqual(submission().Container);
      const { lease } = await take(rest, tenant, "w1");
      const data = { ...submission(), Container: { ...Container, Id: "c0ffee" } };
      await good(command(rest, tenant, "UpdateJob", { jobID: id, data, lease }));
      expect((await one(rest, tenant, id)).Container).toEqual({ ...submission().Container, Id: "c0ffee" });
    },
  },
  E11: {
    says: "Owner is empty while a job waits, its worker while it runs, and another one after a takeover",
    run: async (rest, tenant) => {
      const id = await submit(rest, tenant);
      const owner = async (): Promise<string> => (await one(rest, tenant, id)).Owner;
      expect(await owner()).toBe("");
      await take(rest, tenant, `${tenant}-a`);
      expect(await owner()).toBe(`${tenant}-a`);
      await release(rest, `${tenant}-a`);
      expect(await owner()).toBe("");
      await take(rest, tenant, `${tenant}-b`);
      expect(await owner()).toBe(`${tenant}-b`);
    },
  },
  E12: {
    says: "a worker is given the first that waits",
    run: async (rest, tenant) => {
      const made = [await submit(rest, tenant), await submit(rest, tenant), await submit(rest, tenant)];
      const taken = [await take(rest, tenant, "w1"), await take(rest, tenant, "w2"), await take(rest, tenant, "w3")];
      expect(taken.map(({ jobID }) => jobID)).toEqual(made);
    },
  },
  E13: {
    says: "of workers that race one wins each job, and the others get the next",
    run: async (rest, tenant) => {
      const made: number[] = [];
      for (let i = 0; i < 10; i++) made.push(await submit(rest, tenant));
      const taken = await Promise.all(made.map((_, i) => take(rest, tenant, `w${i}`)));
      expect(taken.map(({ jobID }) => jobID).sort((a, b) => a - b)).toEqual(made);
      await compareAndSwap(rest, tenant);
    },
  },
  E15: {
    says: "States only grows, its last one is the present, its dates do not go back; Step is the worker's",
    run: async (rest, tenant) => {
      const id = await submit(rest, tenant);
      const seen = [(await one(rest, tenant, id)).States];
      const { lease } = await take(rest, tenant, "w1");
      const data = submission();
      await good(command(rest, tenant, "UpdateJob", { jobID: id, data, lease, step: "pulling in/ 40 %" }));
      seen.push((await one(rest, tenant, id)).States);
      expect(seen[1]?.at(-1)).toMatchObject({ State: "STARTED", Step: "pulling in/ 40 %" });
      await good(command(rest, tenant, "FinishJob", { jobID: id, lease }));
      seen.push((await one(rest, tenant, id)).States);
      const names = seen.map((states) => states.map(({ State }) => State));
      expect(names).toEqual([["QUEUED"], ["QUEUED", "STARTED"], ["QUEUED", "STARTED", "FINISHED"]]);
      const dates = (seen[2] ?? []).map(({ Date: date }) => Date.parse(date));
      expect([...dates].sort((a, b) => a - b)).toEqual(dates);
      await manyStates(rest, tenant);
    },
  },
  E18: {
    says: "Result is SUCCESS, or FAILURE with the code and the words",
    run: async (rest, tenant) => {
      const [well, badly] = [await submit(rest, tenant), await submit(rest, tenant)];
      const [first, second] = [await take(rest, tenant, "w1"), await take(rest, tenant, "w1")];
      const end = (jobID: number, lease: string, exitCode: number, result: string) =>
        good(command(rest, tenant, "FinishJob", { jobID, lease, exitCode, result }));
      await end(well, first.lease, 200, "all pushed");
      await end(badly, second.lease, 437, "no such image");
      expect((await one(rest, tenant, well)).Result).toEqual({ Status: "SUCCESS", Info: "all pushed" });
      expect((await one(rest, tenant, badly)).Result).toEqual({
        Status: "FAILURE",
        Info: "exit code 437: no such image",
      });
    },
  },
  E21: {
    says: "the jobs of a dead worker wait again, with a new state; what it has finished is left alone",
    run: async (rest, tenant) => {
      const worker = `${tenant}-dead`;
      const [done, open] = [await submit(rest, tenant), await submit(rest, tenant)];
      const { lease } = await take(rest, tenant, worker);
      await take(rest, tenant, worker);
      await good(command(rest, tenant, "FinishJob", { jobID: done, lease }));
      expect((await release(rest, worker)).jobIDs).toEqual([open]);
      const states = (await one(rest, tenant, open)).States.map(({ State }) => State);
      expect(states).toEqual(["QUEUED", "STARTED", "QUEUED"]);
      expect((await one(rest, tenant, done)).States.at(-1)?.State).toBe("FINISHED");
    },
  },
  E22: {
    says: "a worker whose jobs were given back has no say in them any more",
    run: async (rest, tenant) => {
      const worker = `${tenant}-late`;
      const id = await submit(rest, tenant);
      const { lease } = await take(rest, tenant, worker);
      await release(rest, worker);
      await take(rest, tenant, `${tenant}-next`);
      for (const verb of ["FinishJob", "FailJob", "RetryJob"]) {
        const { said } = await command(rest, tenant, verb, { jobID: id, lease });
        expect([verb, said]).toEqual([verb, "405 This job was given to another worker"]);
      }
      const written = await command(rest, tenant, "UpdateJob", { jobID: id, lease, data: { late: true } });
      expect([written.status, (await one(rest, tenant, id)).Owner]).toEqual([409, `${tenant}-next`]);
    },
  },
  E23: {
    says: "a job whose worker died is finished by another, which its Owner shows",
    run: async (rest, tenant) => {
      const id = await submit(rest, tenant);
      await take(rest, tenant, `${tenant}-dead`);
      await release(rest, `${tenant}-dead`);
      const { jobID, lease } = await take(rest, tenant, `${tenant}-heir`);
      expect(jobID).toBe(id);
      await good(command(rest, tenant, "FinishJob", { jobID, lease, exitCode: 200 }));
      expect(await one(rest, tenant, id)).toMatchObject({ Owner: `${tenant}-heir`, Result: { Status: "SUCCESS" } });
    },
  },
};
