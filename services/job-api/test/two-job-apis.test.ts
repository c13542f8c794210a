/** Two job-apis as real processes: whatever one is asked, the other knows. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ownZooKeeper, type OwnZooKeeper, waitFor, WireClient } from "@sluice/testkit";
import { connectSession } from "@sluice/zookeeper";
import { HttpDoor } from "./support/http-door.ts";
import { type House, type JobApi, openHouse, PEER_SECRET } from "./support/processes.ts";

let zk: OwnZooKeeper;
let house: House;
let [first, second]: [JobApi | null, JobApi | null] = [null, null];
let token = "";
const one = (): JobApi => first!;
const other = (): JobApi => second!;
const httpOf = (api: JobApi): HttpDoor => new HttpDoor(api.url, token);

beforeAll(async () => {
  zk = await ownZooKeeper();
  house = await openHouse(zk.connect);
  token = await house.token({ role: "admin", tenants: ["*"] });
  [first, second] = await Promise.all([house.start("one"), house.start("two")]);
  await waitFor(async () => {
    const { body } = await httpOf(one()).ask("GET", "/v1/shards");
    const owners = (body["items"] as { owner: string | null }[]).map(({ owner }) => owner);
    return owners.length === 16 && owners.every((owner) => owner !== null) && new Set(owners).size === 2;
  });
});
afterAll(async () => {
  await house.end();
  await zk.stop();
});

test("the document's sample session, its worker at the other process", async () => {
  const [nc, worker] = [new WireClient(one().bedrockPort), new WireClient(other().bedrockPort)];
  expect(await nc.say("CreateJob", "name: foo", 'data: {"value":1}', "repeat: finished, +1 minute")).toBe(
    '200 OK\nContent-Length: 11\n\n{"jobID":1}',
  );
  expect(await worker.say("GetJob", "name: foo")).toBe(
    '200 OK\nContent-Length: 43\n\n{"data":{"value":1},"jobID":1,"name":"foo"}',
  );
  expect(await worker.say("UpdateJob", "jobID: 1", 'data: {"value":2}')).toBe("200 OK\n\n");
  expect(await nc.say("QueryJob", "jobID: 1")).toBe(
    '200 OK\nContent-Length: 61\n\n{"data":{"value":2},"jobID":1,"name":"foo","state":"RUNNING"}',
  );
  expect(await worker.say("FinishJob", "jobID: 1", 'data: {"value":3}')).toBe("200 OK\n\n");
  expect(await worker.say("GetJob", "name: foo")).toBe("404 No job found\n\n");
  expect(await nc.say("Query", "query: select * from jobs;")).toMatch(
    /^200 OK\nContent-Length: 120\n\n\[\["[-\d: ]{19}",1,"QUEUED","foo",.*,"finished, \+1 minute",\{"value":3\}\]\]$/,
  );
  expect(await nc.say("QueryJob", "jobID: 1", "fields: all")).toMatch(/"priority":500.*"retryAfter":""/);
  nc.socket.destroy();
  worker.socket.destroy();
});

test("over TCP without a token only tenant default is there, with one those of the token", async () => {
  const nc = new WireClient(one().bedrockPort);
  const acme = await house.token({ role: "depositor", tenants: ["acme"] });
  const ask = (...headers: string[]): Promise<string> => nc.say("CreateJob", "name: x", ...headers);
  expect(await ask("tenant: acme")).toBe("401 Unauthorized\n\n");
  expect(await ask("tenant: acme", `Authorization: Bearer ${acme}`)).toContain("200 OK");
  expect(await ask("tenant: other", `Authorization: Bearer ${acme}`)).toBe("401 Unauthorized\n\n");
  expect(await ask(`Authorization: Bearer ${acme.slice(0, -1)}`)).toBe("401 Unauthorized\n\n");
  const looker = await house.token({ role: "viewer" });
  expect(await ask(`Authorization: Bearer ${looker}`)).toBe("401 Unauthorized\n\n");
  nc.socket.destroy();
});

describe("a worker over HTTP", () => {
  test("takes by turns what was added by lines at the other process, renews, ends, and is told of it", async () => {
    const added = await httpOf(one()).text("POST", "/lines/job/resize/add", "one\n\ntwo\n");
    const ids = added.trimEnd().split("\n").map(Number);
    expect(ids).toHaveLength(2);
    const http = httpOf(other());
    const jobs = await waitFor(async () => {
      const { body } = await http.ask("POST", "/v1/take", { worker: "w", tenants: ["lines"], limit: 5, waitMs: 500 });
      const taken = body["jobs"] as { jobID: number; tenant: string; lease: string; data: { payload: string } }[];
      return taken.length === 2 && taken;
    });
    expect(jobs.map(({ jobID, data, tenant }) => [jobID, data.payload, tenant])).toEqual([
      [ids[0], "one", "lines"],
      [ids[1], "two", "lines"],
    ]);
    const leases = jobs.map(({ tenant, jobID, lease }) => ({ tenant, jobID, lease }));
    const renewed = await httpOf(one()).ask("POST", "/v1/workers/w/renew", {
      leases: [...leases, { tenant: "lines", jobID: ids[0], lease: "1.999" }],
    });
    expect(renewed.body).toEqual({ lost: [ids[0]] });
    const [job] = jobs;
    const end = { jobID: job!.jobID, lease: job!.lease, exitCode: 200, result: "x".repeat(100_000) };
    expect((await httpOf(one()).ask("POST", "/v1/tenants/lines/commands/FinishJob", end)).status).toBe(200);
    const result = await http.ask("GET", `/v1/tenants/lines/jobs/${job!.jobID}/result`);
    expect(result.body).toMatchObject({ exit: 200, result: end.result });
    const released = await httpOf(one()).ask("POST", "/v1/workers/w/release");
    expect(released.body).toEqual({ jobIDs: [ids[1]] });
    const { body } = await http.ask("GET", `/v1/tenants/lines/jobs/${ids[1]!}`);
    expect(body).toMatchObject({ state: "QUEUED", owner: "" });
  });

  test("large data comes back byte for byte", async () => {
    const data = `{"big":12345678901234567890,"text":"${"ä".repeat(50_000)}"}`;
    await httpOf(one()).ask("POST", "/v1/tenants/large/commands/CreateJob", { name: "x", data });
    const taken = await httpOf(other()).text(
      "POST",
      "/v1/tenants/large/commands/GetJob",
      '{"name":"x"}',
      "application/json",
    );
    expect(taken).toContain(`"data":${data},`);
  });
});

test("how many jobs could run, and how long the oldest could, is exported: for runners and for workers of their own", async () => {
  const read = async (): Promise<Readonly<Record<string, number>>> => {
    const texts = await Promise.all(
      [one(), other()].map(async (api) => (await fetch(`${api.metricsUrl}/metrics`)).text()),
    );
    const of = (series: string): readonly number[] =>
      texts.map((text) => Number(new RegExp(`^${series} (\\S+)$`, "m").exec(text)?.[1]));
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    return {
      runners: sum(of('sluice_jobs_ready\\{by="runners"\\}')),
      workers: sum(of('sluice_jobs_ready\\{by="workers"\\}')),
      age: Math.max(...of('sluice_jobs_oldest_ready_age_seconds\\{by="runners"\\}')),
    };
  };
  const before = await read();
  const http = httpOf(one());
  await http.text("POST", "/scaled/job/resize/add", "1\n2\n3\n");
  // More than those of the tests before, of which some may be counted still though they are taken.
  const own = Array.from({ length: 10 }, () => ({ name: "own" }));
  await http.ask("POST", "/v1/tenants/scaled/commands/CreateJobs", { jobs: own });
  await http.ask("POST", "/v1/tenants/system/commands/CreateJob", { name: "fleet/x", firstRun: "2026-01-01 00:00:00" });
  const after = await waitFor(async () => {
    const now = await read();
    // Leases of the tests before this one may still run out, and add to it.
    return now["runners"]! >= before["runners"]! + 4 && now["workers"]! > before["workers"]! && now;
  });
  expect(after["age"]).toBeGreaterThan(86_400);
});

test("a container job at the etcd door: missing fields are named, states are spelled from events", async () => {
  const http = httpOf(one());
  const States = [{ State: "QUEUED", Step: "", Date: "2026-11-16T12:00:00Z" }];
  const job = { Container: { Config: { Image: "busybox" } }, Fileset: { Input: { Name: "in" } }, States };
  for (const [missing, pointer] of [
    [{ ...job, Container: {} }, "/Container/Config"],
    [{ ...job, Fileset: undefined }, "/Fileset"],
    [{ ...job, States: undefined }, "/States"],
    [{ ...job, States: [{ ...States[0], State: "STARTED" }] }, "/States/0/State"],
    [{ ...job, States: [...States, ...States] }, "/States"],
  ] as const) {
    const refused = await http.ask("POST", "/v2/keys/jobs?tenant=boxes", missing);
    expect([refused.status, (refused.body["errors"] as { pointer: string }[])[0]?.pointer]).toEqual([400, pointer]);
  }
  for (let n = 0; n < 3; n++) expect((await http.ask("POST", "/v2/keys/jobs?tenant=boxes", job)).status).toBe(201);
  const taken = await http.ask("POST", "/v1/tenants/boxes/commands/GetJob", { name: "container", worker: "w-7" });
  const { jobID, lease } = taken.body;
  const update = { jobID, lease, data: job, step: "pull" };
  await http.ask("POST", "/v1/tenants/boxes/commands/UpdateJob", update);
  const list = async (folder: string): Promise<Record<string, unknown>[]> =>
    (await httpOf(other()).ask("GET", `/v2/keys/${folder}?tenant=boxes&plain=true`)).body["jobs"] as never;
  const [running] = await list("running");
  expect(running).toMatchObject({ Id: String(jobID), Owner: "w-7" });
  expect((running!["States"] as { State: string; Step: string }[]).map(({ State, Step }) => [State, Step])).toEqual([
    ["QUEUED", ""],
    ["STARTED", "pull"],
  ]);
  const end = { jobID, lease, exitCode: 403, result: "it burns" };
  await http.ask("POST", "/v1/tenants/boxes/commands/FinishJob", end);
  expect(await list("finished")).toMatchObject([
    { Owner: "w-7", Result: { Status: "FAILURE", Info: "exit code 403: it burns" } },
  ]);
  expect([(await list("new")).length, (await list("running")).length]).toEqual([2, 0]);
  const all = (await list("jobs")).map(({ Id }) => Number(Id));
  expect(all).toEqual([jobID, Number(jobID) + 1, Number(jobID) + 2]);
  const node = await http.ask("GET", `/v2/keys/jobs/${String(jobID)}?tenant=boxes`);
  expect(node.body).toMatchObject({ action: "get", node: { key: `/jobs/${String(jobID)}` } });
});

test("kill -9 of one: the other has its jobs, its lease is good there, and it comes back", async () => {
  const http = httpOf(other());
  await http.ask("POST", "/v1/tenants/killed/commands/CreateJob", { name: "x" });
  const taken = await http.ask("POST", "/v1/tenants/killed/commands/GetJob", { name: "x", worker: "w" });
  await one().child.kill("SIGKILL");
  const { jobID, lease } = taken.body;
  await waitFor(async () => {
    const ended = await http.ask("POST", "/v1/tenants/killed/commands/FinishJob", { jobID, lease, exitCode: 200 });
    if (ended.status !== 200) expect(ended.status).toBe(503);
    return ended.status === 200;
  });
  const found = await http.ask("GET", `/v1/tenants/killed/jobs/${String(jobID)}`);
  expect(found.body).toMatchObject({ state: "FINISHED", exit: 200, runs: [{ outcome: "finished" }] });
  first = await house.start("one");
});

test("ZooKeeper away: adds are accepted, and are there once when it is back", async () => {
  const http = httpOf(other());
  const create = { name: "away", data: { n: 0 } };
  const before = await http.ask("POST", "/v1/tenants/journaled/commands/CreateJob", create);
  await http.text("POST", "/journaled/job/away/add", "1");
  await waitFor(async () => {
    const { body } = await http.ask("GET", "/v1/tenants/journaled/jobs");
    return (body["items"] as unknown[]).length === 2;
  });
  await zk.kill("SIGKILL");
  const lines = await waitFor(async () => {
    const answer = await http.raw("POST", "/journaled/job/away/add", "2\n3\n", "text/plain");
    return answer.status === 200 && answer.text();
  });
  const created = await waitFor(async () => {
    const answer = await http.ask("POST", "/v1/tenants/journaled/commands/CreateJob", create);
    return answer.status === 200 && answer.body["jobID"];
  });
  expect((await fetch(`${other().metricsUrl}/readyz`)).status).toBe(200);
  await zk.restart();
  const ids = await waitFor(async () => {
    const { body } = await http.ask("GET", "/v1/tenants/journaled/jobs");
    const found = (body["items"] as { jobID: number }[] | undefined)?.map(({ jobID }) => jobID) ?? [];
    return found.length >= 5 && found;
  });
  expect(ids).toHaveLength(5);
  expect(ids).toEqual(
    expect.arrayContaining([before.body["jobID"], created, ...lines.trimEnd().split("\n").map(Number)]),
  );
});

test("SIGTERM while jobs wait on its disk: with JOURNAL_DRAIN it goes when the queue has them", async () => {
  const leaver = await house.start("three", { JOURNAL_DRAIN: "true", SHUTDOWN_GRACE_MS: "60000" });
  const http = httpOf(leaver);
  // Its shard is known to it, and ids are reserved.
  expect((await http.ask("POST", "/v1/tenants/leaving/commands/CreateJob", { name: "x" })).status).toBe(200);
  await http.text("POST", "/leaving/job/x/add", "1");
  await zk.kill("SIGKILL");
  const lines = await waitFor(async () => {
    const answer = await http.raw("POST", "/leaving/job/x/add", "2\n3\n4\n", "text/plain");
    return answer.status === 200 && answer.text();
  });
  process.kill(leaver.child.pid, "SIGTERM");
  await waitFor(async () => (await leaver.log()).includes("waits until the owners have"));
  await expect(http.raw("POST", "/leaving/job/x/add", "5\n", "text/plain")).rejects.toThrow();
  await zk.restart();
  await leaver.child.exited;
  expect(await leaver.log()).toContain("the journal is empty");
  const ids = await waitFor(async () => {
    const { body } = await httpOf(other()).ask("GET", "/v1/tenants/leaving/jobs");
    return (body["items"] as { jobID: number }[] | undefined)?.map(({ jobID }) => jobID);
  });
  expect(ids).toHaveLength(5);
  expect(ids).toEqual(expect.arrayContaining(lines.trimEnd().split("\n").map(Number)));
});

test("no secret stands in a log, a metric or the tree", async () => {
  const texts = [await one().log(), await other().log()];
  for (const api of [one(), other()]) texts.push(await (await fetch(`${api.metricsUrl}/metrics`)).text());
  const session = await connectSession({ connect: zk.connect, timeoutMs: 10_000 });
  const dump = async (path: string): Promise<void> => {
    const [node, below] = [await session.get(path), await session.children(path)];
    if (node.ok) texts.push(node.value.data.toString());
    for (const name of below.ok ? below.value.names : []) await dump(`${path === "/" ? "" : path}/${name}`);
  };
  await dump("/fleet");
  await session.close();
  for (const secret of [PEER_SECRET, token, token.slice(17)])
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
});

test("SIGTERM: who waits is told that there is none, and the process ends well", async () => {
  const waiting = httpOf(one()).ask("POST", "/v1/tenants/idle/commands/GetJob", {
    name: "never",
    connection: "wait",
    timeout: 60_000,
  });
  const taking = httpOf(one()).ask("POST", "/v1/take", { worker: "w", tenants: ["idle"], waitMs: 60_000 });
  await waitFor(async () => {
    const metrics = await (await fetch(`${one().metricsUrl}/metrics`)).text();
    return /^sluice_jobs_waiters [1-9]/m.test(metrics);
  });
  await one().child.kill("SIGTERM");
  expect((await waiting).status).toBe(404);
  expect((await taking).body).toEqual({ jobs: [] });
});
