/** What comes, is taken, ends and goes is told once, with who did it by which door. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { HttpServer } from "@sluice/http-api";
import type { JobNews } from "../src/heard.ts";
import { portsOf, serveJobs } from "./support/http-door.ts";
import { MemoryQueue } from "./support/memory-queue.ts";
import { WireTalk } from "./support/wire-talk.ts";

let queue: MemoryQueue;
let server: HttpServer;
const heard: JobNews[] = [];
beforeEach(async () => {
  heard.length = 0;
  queue = new MemoryQueue();
  server = await serveJobs({ ...portsOf(queue), hear: (news) => heard.push(news) });
});
afterEach(() => server.close(0));

async function post(path: string, body: unknown): Promise<unknown> {
  const type = typeof body === "string" ? "text/plain" : "application/json";
  const sent = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    headers: { "content-type": type },
    body: sent,
  });
  const text = await answer.text();
  return String(answer.headers.get("content-type")).includes("json") ? (JSON.parse(text) as unknown) : text;
}
const command = (verb: string, body: unknown): Promise<unknown> => post(`/v1/tenants/default/commands/${verb}`, body);

test("over HTTP", async () => {
  const by = { door: "http", caller: "Ada", tenant: "default" };
  await command("CreateJobs", { jobs: [{ name: "a", data: { secret: 1 } }, { name: "a" }, { name: "b" }] });
  const { lease } = (await command("GetJob", { name: "a", worker: "w-1" })) as { readonly lease: string };
  await command("FinishJob", { jobID: 1, lease, exitCode: 201, result: "private" });
  await command("FinishJob", { jobID: 77 });
  await post("/v1/take", { worker: "w-2", tenants: ["default"], types: ["*"], limit: 5 });
  await command("RequeueJobs", { jobIDs: [2] });
  await command("DeleteJob", { jobID: 2 });
  await command("QueryJob", { jobID: 3 });
  expect(heard).toEqual([
    { ...by, what: "came", ids: [1, 2, 3], names: ["a", "b"] },
    { ...by, what: "taken", ids: [1], names: ["a"], runs: [lease], worker: "w-1" },
    { ...by, what: "ended", ids: [1], how: "finished", exit: 201, runs: [lease] },
    { ...by, what: "taken", ids: [2, 3], names: ["a", "b"], runs: ["1.2", "1.3"], worker: "w-2" },
    { ...by, what: "returned", ids: [2] },
    { ...by, what: "removed", ids: [2], how: "deleted" },
  ]);
  expect(JSON.stringify(heard)).not.toMatch(/secret|private/);
});

test("over the other two documents' paths", async () => {
  await post("/default/job/mail/add", "one\ntwo");
  const States = [{ State: "QUEUED", Step: "", Date: "2026-11-16T13:00:00Z" }];
  await post("/v2/keys/jobs", { Container: { Config: { Image: "x" } }, Fileset: { Input: { Name: "in" } }, States });
  expect(heard).toEqual([
    { door: "serverless", caller: "Ada", tenant: "default", what: "came", ids: [1, 2], names: ["mail"] },
    { door: "etcd", caller: "Ada", tenant: "default", what: "came", ids: [3], names: ["container"] },
  ]);
});

test("over TCP; whoever shows a token by its name", async () => {
  const nc = new WireTalk(queue);
  await nc.say("CreateJob", "name: a");
  await nc.say("GetJob", "name: a");
  await nc.say("FailJob", "jobID: 1");
  const by = { door: "tcp", caller: "tcp test", tenant: "default" };
  expect(nc.heard).toEqual([
    { ...by, what: "came", ids: [1], names: ["a"] },
    { ...by, what: "taken", ids: [1], names: ["a"], runs: ["1.1"], worker: "tcp test" },
    { ...by, what: "ended", ids: [1], how: "failed", exit: null, runs: ["1.1"] },
  ]);
  const named = new WireTalk(queue, {}, () => ({ tenant: "other", caller: "Bob" }));
  await named.say("CreateJob", "name: a", "connection: forget");
  expect(named.heard).toMatchObject([{ caller: "Bob", tenant: "other", ids: [2] }]);
});
