/** The commands over real HTTP. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import { addOperations, createApp, type HttpServer, listen, openApiDocument, problem } from "@sluice/http-api";
import { jobOperations } from "../src/http/operations.ts";
import { MemoryQueue } from "./support/memory-queue.ts";

let queue: MemoryQueue;
let server: HttpServer;

const operationsOf = (of: MemoryQueue): ReturnType<typeof jobOperations> =>
  jobOperations({
    queue: of,
    refuse: (_, tenant) => (tenant === "closed" ? problem("FORBIDDEN", "not your tenant") : null),
  });

beforeEach(async () => {
  queue = new MemoryQueue();
  const onError = (error: unknown): void => {
    throw error;
  };
  const listening = await listen(
    createApp({ onError }, (app) => addOperations(app, operationsOf(queue))),
    { port: 0 },
  );
  if (!listening.ok) throw new Error(listening.message);
  server = listening.server;
});
afterEach(() => server.close(0));

const call = async (verb: string, body: unknown, tenant = "default", signal?: AbortSignal): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}/v1/tenants/${tenant}/commands/${verb}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
const json = async (verb: string, body: unknown): Promise<unknown> => (await call(verb, body)).json();

describe("commands over HTTP", () => {
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
    expect(
      await json("RenewLeases", {
        leases: [
          { jobID: 1, lease: taken.lease },
          { jobID: 2, lease: "1.9" },
        ],
      }),
    ).toEqual({
      lost: [2],
    });
    expect(await json("UpdateJob", { jobID: 1, data: { value: 2 }, lease: taken.lease })).toEqual({});
    expect(await json("QueryJob", { jobID: 1 })).toMatchObject({ state: "RUNNING", data: { value: 2 } });
    expect((await call("FinishJob", { jobID: 1, lease: "1.77" })).status).toBe(409);
    expect(await json("FinishJob", { jobID: 1, lease: taken.lease, exitCode: 200 })).toEqual({});
    const list = await fetch(`http://127.0.0.1:${server.port}/v1/tenants/default/jobs`);
    expect(await list.json()).toMatchObject({ jobs: [{ jobID: 1, state: "QUEUED" }] });
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
    ["GetJobs", { name: "foo" }, 400, "402 Missing numResults"],
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

  test("are described", async () => {
    const info = { title: "Jobs", version: "1", description: "The general queue", groups: { Jobs: "commands" } };
    const document = openApiDocument(info, operationsOf(queue));
    expect(Object.keys(document.paths)).toHaveLength(14);
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
    expect(result.valid ? [] : result.errors).toEqual([]);
  });
});
