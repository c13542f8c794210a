/** Requests that nobody waits for, that wait, and that leave nothing behind; and the commands for those who keep the house. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Caller } from "@sluice/access";
import type { HttpServer } from "@sluice/http-api";
import { waitFor } from "@sluice/testkit";
import { getEventListeners } from "node:events";
import type { JobPorts } from "../src/http/ports.ts";
import { ADA, portsOf, serveJobs } from "./support/http-door.ts";
import { MemoryQueue } from "./support/memory-queue.ts";

const KEEPER: Caller = { ...ADA, name: "Kim", role: "operator", scope: "all", tenants: "all" };

let queue: MemoryQueue;
let ports: JobPorts;
let server: HttpServer;
let leaving: AbortController;
beforeEach(async () => {
  queue = new MemoryQueue();
  leaving = new AbortController();
  ports = { ...portsOf(queue), leaving: leaving.signal };
  server = await serveJobs(ports, KEEPER);
});
afterEach(() => server.close(0));

async function ask(verb: string, body: object, at = server): Promise<readonly [number, string, unknown]> {
  const answer = await fetch(`http://127.0.0.1:${at.port}/v1/tenants/default/commands/${verb}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return [answer.status, String(answer.headers.get("job-status")), await answer.json()];
}
const ACCEPTED = [202, "202 Successfully queued", {}];

test("A7: whoever does not wait for the answer is told 202, and it is done", async () => {
  expect(await ask("CreateJob", { name: "a", connection: "forget" })).toEqual(ACCEPTED);
  expect(await ask("UpdateJob", { jobID: 1, data: { b: 1 }, connection: "forget" })).toEqual(ACCEPTED);
  await waitFor(async () => JSON.stringify((await ask("QueryJob", { jobID: 1 }))[2]).includes('"b":1'));
  // Nobody hears what it took.
  expect(await ask("GetJob", { name: "a", connection: "forget" })).toEqual(ACCEPTED);
  await waitFor(async () => (await ask("QueryJob", { jobID: 1 }))[0] === 200);
  expect((await ask("QueryJob", { jobID: 1 }))[2]).toMatchObject({ state: "QUEUED" });
  expect((await ask("CreateJob", { connection: "forget" }))[1]).toBe("402 Missing name");
});

test("A7: a command for a later time is told 202, and done then", async () => {
  await ask("CreateJob", { name: "a" });
  const commandExecuteTime = (queue.now + 60_000) * 1_000;
  expect(await ask("DeleteJob", { jobID: 1, commandExecuteTime })).toEqual(ACCEPTED);
  expect(await ask("CreateJob", { name: "b", commandExecuteTime })).toEqual(ACCEPTED);
  expect((await ask("GetJob", { name: "b" }))[1]).toBe("404 No job found");
  await queue.pass(60_000);
  expect((await ask("QueryJob", { jobID: 1 }))[0]).toBe(404);
  expect((await ask("GetJob", { name: "b" }))[0]).toBe(200);
});

test("F15: types that crash are told, listed and cleared, by operators alone", async () => {
  expect(await ask("CrashBedrockJob", { name: "a*,b" })).toEqual([200, "200 OK", {}]);
  const listed = { crashedBedrockJobs: 2, crashedBedrockJobsList: ["a*", "b"] };
  expect(await ask("Status", {})).toEqual([200, "200 OK", listed]);
  await ask("CreateJob", { name: "abc" });
  expect(await ask("GetJob", { name: "abc" })).toEqual([200, "200 OK", {}]);
  const door = await serveJobs(ports, ADA);
  expect((await ask("Status", {}, door))[2]).toEqual(listed);
  for (const verb of ["CrashBedrockJob", "ClearCrashedBedrockJobs"])
    expect([verb, (await ask(verb, {}, door))[0]]).toEqual([verb, 403]);
  await door.close(0);
  expect(await ask("ClearCrashedBedrockJobs", {})).toEqual([200, "200 OK", {}]);
  expect((await ask("Status", {}))[2]).toEqual({ crashedBedrockJobs: 0, crashedBedrockJobsList: [] });
});

test("a request that is over leaves nothing on the signal that lives as long as the process", async () => {
  for (let n = 0; n < 20; n++) await ask("GetJob", { name: "a" });
  await waitFor(() => getEventListeners(leaving.signal, "abort").length === 0);
  const waiting = ask("GetJob", { name: "a", connection: "wait", timeout: 60_000 });
  await waitFor(() => queue.waiting === 1);
  expect(getEventListeners(leaving.signal, "abort")).toHaveLength(1);
  leaving.abort();
  expect((await waiting)[1]).toBe("404 No job found");
});
