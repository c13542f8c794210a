/** The commands over real HTTP. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type HttpServer, openApiDocument } from "@sluice/http-api";
import { STATUS } from "@sluice/job-queue";
import { JOBS } from "@sluice/wire";
import { jobOperations } from "../src/http/operations.ts";
import { shownQueue } from "../src/shown.ts";
import { MemoryQueue } from "./support/memory-queue.ts";
import { portsOf, serveJobs } from "./support/http-door.ts";

interface Described {
  readonly requestBody: { readonly content: object };
}

let queue: MemoryQueue;
let server: HttpServer;

beforeEach(async () => {
  queue = new MemoryQueue();
  server = await serveJobs(portsOf(queue));
});
afterEach(() => server.close(0));

const ask = async (method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
const call = (verb: string, body: unknown, tenant = "default", signal?: AbortSignal): Promise<Response> =>
  ask("POST", `/v1/tenants/${tenant}/commands/${verb}`, body, signal);
const json = async (verb: string, body: unknown): Promise<unknown> => (await call(verb, body)).json();

describe("commands over HTTP", () => {
  test("a job whose data hold a number that JavaScript would round is shown with their text too", async () => {
    await call("CreateJob", { name: "foo", data: '{"id":9223372036854775807}' });
    await call("CreateJob", { name: "foo", data: '{"id":1}' });
    const shown = async (id: number) => (await (await ask("GET", `/v1/tenants/default/jobs/${id}`)).json()) as object;
    expect(await shown(1)).toMatchObject({ data_text: '{"id":9223372036854775807}' });
    expect(await shown(2)).not.toHaveProperty("data_text");
  });

  test("a job's life", async () => {
    expect(await json("CreateJob", { name: "123", data: { value: 1 }, repeat: "finished, +1 minute" })).toEqual({
      jobID: 1,
    });
    const taken = (await json("GetJob", { name: "1*", worker: "w-1" })) as { lease: string };
    expect(taken).toMatchObject({
      jobID: 1,
      name: "123",
      data: { value: 1 },
      priority: 500,
      repeat: "FINISHED, +1 MINUTE",
    });
    const leases = [
      { tenant: "default", jobID: 1, lease: taken.lease },
      { tenant: "default", jobID: 2, lease: "1.9" },
    ];
    expect(await (await ask("POST", "/v1/workers/w-1/renew", { leases })).json()).toEqual({ lost: [2] });
    expect(await json("UpdateJob", { jobID: 1, data: { value: 2 }, lease: taken.lease })).toEqual({});
    expect(await json("QueryJob", { jobID: 1 })).toMatchObject({ state: "RUNNING", data: { value: 2 } });
    expect((await call("FinishJob", { jobID: 1, lease: "1.77" })).status).toBe(409);
    expect(await json("FinishJob", { jobID: 1, lease: taken.lease, exitCode: 200 })).toEqual({});
    expect(await (await ask("GET", "/v1/tenants/default/jobs")).json()).toMatchObject({
      items: [{ jobID: 1, state: "QUEUED", repeat: "finished, +1 minute" }],
      next_cursor: null,
    });
  });

  test("data that is sent as a text keeps its bytes", async () => {
    const data = '{ "big":12345678901234567890 }';
    await json("CreateJobs", { jobs: [{ name: "foo", data }] });
    expect(await (await call("QueryJob", { jobID: "1" })).text()).toContain(`"data":${data},`);
  });

  test.each([
    ["CreateJob", {}, 400, "402 Missing name"],
    ["CreateJobs", { jobs: [] }, 400, "401 Invalid JSON"],
    ["QueryJob", { jobID: "01" }, 400, "402 Malformed jobID"],
    ["QueryJob", { jobID: 7 }, 404, "404 No job with this jobID"],
    ["GetJob", { name: "foo" }, 404, "404 No job found"],
    ["GetJobs", { name: "foo" }, 404, "404 No job found"],
  ])("%s %j is refused in the words of the document", async (verb, body, status, words) => {
    const response = await call(verb, body);
    expect(response.status).toBe(status);
    expect(response.headers.get("job-status")).toBe(words);
    expect(await response.json()).toMatchObject({ detail: words.slice(4) });
  });

  test("fields that do not exist, tenants that cannot be or are not the caller's, an owner that is away", async () => {
    expect((await call("CreateJob", { name: "foo", colour: 1 })).status).toBe(400);
    expect((await call("CreateJob", { name: "foo" }, "A_B")).status).toBe(400);
    expect((await call("CreateJob", { name: "foo" }, "closed")).status).toBe(403);
    queue.isAway = true;
    const response = await call("CreateJob", { name: "foo" });
    expect([response.status, response.headers.get("job-status")]).toEqual([503, "503 Not known whether this was done"]);
  });

  test("who is told to come again is told when, at the commands and at the serverless door", async () => {
    const full = {
      status: { code: 503, text: "The journal is full", retryAfterMs: 4_500 },
      content: { kind: "none" },
    } as const;
    const busy = await serveJobs({
      ...portsOf(queue),
      addLines: () => Promise.resolve(full),
      queue: { ask: () => Promise.resolve(full), wait: () => Promise.resolve(full) },
    });
    for (const [path, body] of [
      ["/v1/tenants/default/commands/CreateJob", '{"name":"foo"}'],
      ["/default/job/foo/add", "a payload"],
    ] as const) {
      const headers = { "content-type": body.startsWith("{") ? "application/json" : "text/plain" };
      const told = await fetch(`http://127.0.0.1:${busy.port}${path}`, { method: "POST", headers, body });
      expect([told.status, told.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await told.json()).toMatchObject({ detail: "The journal is full" });
    }
    await busy.close(0);
  });

  test("who waits is given what comes; who goes has not taken it", async () => {
    const gone = new AbortController();
    const first = call("GetJob", { name: "foo", connection: "wait", timeout: 60_000 });
    while (queue.asked.length < 1) await new Promise(setImmediate);
    await call("CreateJob", { name: "foo" });
    expect(await (await first).json()).toMatchObject({ jobID: 1 });
    const second = call("GetJob", { name: "bar", connection: "wait" }, "default", gone.signal).catch(() => "gone");
    while (queue.asked.length < 3) await new Promise(setImmediate);
    gone.abort();
    expect(await second).toBe("gone");
    while (queue.waiting > 0) await new Promise(setImmediate);
    await call("CreateJob", { name: "bar" });
    expect(await json("QueryJob", { jobID: 2 })).toMatchObject({ state: "QUEUED" });
  });

  test("are described, with every endpoint of the table", async () => {
    const groups = { Commands: "", Queue: "", Workers: "", Handlers: "", etcd: "", Serverless: "" };
    const info = { title: "Jobs", version: "1", description: "The general queue", groups };
    const operations = jobOperations(portsOf(queue));
    const served = operations.map(({ spec }) => `${spec.method} ${spec.path}`);
    expect(served).toEqual(expect.arrayContaining(Object.values(JOBS).map(({ method, path }) => `${method} ${path}`)));
    const result = await new Validator().validate(
      JSON.parse(JSON.stringify(openApiDocument(info, operations))) as Record<string, unknown>,
    );
    expect(result.valid ? [] : result.errors).toEqual([]);
    const { paths } = openApiDocument(info, operations) as unknown as { paths: Record<string, { post: Described }> };
    const bodies = ["/{client}/job/{type}/add", "/{client}/handler/add/{type}/add", "/v2/keys/jobs"].map((path) =>
      Object.keys(paths[path]?.post.requestBody.content ?? {}),
    );
    expect(bodies).toEqual([
      ["text/plain"],
      ["text/plain", "application/json"],
      ["application/json", "application/x-www-form-urlencoded"],
    ]);
  });
});

describe("jobs of the fleet itself", () => {
  beforeEach(async () => {
    await server.close(0);
    const admin = { id: "token:x", name: "admin", role: "admin", scope: "all", tenants: "all" } as const;
    server = await serveJobs(portsOf(queue), admin);
  });

  const URL = "https://store.example/a.checkm?signature=secret";
  const data = {
    sealed: { batch: { payload_url: URL, notification: "ada@example.org", objects: [{ url: URL }] }, by: { id: "a" } },
    runs: 0,
  };

  test("are shown without URLs' queries and mail addresses, and whole to who runs them and who sealed them", async () => {
    await call("CreateJob", { name: "fleet/deposit/a", data, repeat: "DAILY" }, "system");
    const taken = (await (await call("GetJob", { name: "fleet/*" }, "system")).json()) as { data: object };
    expect(taken.data).toEqual(data);
    const shown = [
      await (await call("QueryJob", { jobID: 1 }, "system")).text(),
      await (await ask("GET", "/v1/tenants/system/jobs/1")).text(),
      await (await ask("GET", "/v1/tenants/system/jobs")).text(),
    ];
    for (const text of shown) expect(text).not.toMatch(/secret|ada@/);
    expect(shown[1]).toContain("https://store.example/a.checkm?[redacted]");
    expect(await (await ask("GET", "/v1/tenants/system/jobs/1/sealed")).json()).toEqual({
      name: "fleet/deposit/a",
      data,
    });
  });

  test("the results of their runs are shown so too", async () => {
    const run = {
      jobID: 1,
      tenant: "system",
      name: "a",
      lease: "",
      worker: "",
      outcome: "finished",
      exit: 422,
    } as const;
    const result = JSON.stringify({ why: `${URL} of ada@example.org` });
    const runs = [{ ...run, result, resultRef: null, created: 0, started: 0, ended: 0 }];
    const asked = {
      ask: () => Promise.resolve({ status: STATUS.ok, content: { kind: "runs", runs, next: null } } as const),
    };
    const shown = async (tenant: string): Promise<string> =>
      JSON.stringify(await shownQueue(asked as never).ask(tenant, { verb: "ListRuns", tenant, limit: 1 }));
    expect(await shown("system")).toContain("https://store.example/a.checkm?[redacted] of [redacted]");
    expect(await shown("default")).toContain("secret");
  });

  test("what is sealed is asked for in their tenant alone", async () => {
    await call("CreateJob", { name: "a", data });
    await call("CreateJob", { name: "fleet/purge" }, "system");
    expect((await ask("GET", "/v1/tenants/default/jobs/1/sealed")).status).toBe(404);
    expect((await ask("GET", "/v1/tenants/system/jobs/2/sealed")).status).toBe(404);
  });
});
