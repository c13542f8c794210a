/** The serverless document's literal paths, over real HTTP. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { HttpServer } from "@sluice/http-api";
import { ADA, portsOf, serveJobs } from "./support/http-door.ts";
import { MemoryQueue } from "./support/memory-queue.ts";

let server: HttpServer;
beforeEach(async () => {
  server = await serveJobs(portsOf(new MemoryQueue()));
});
afterEach(() => server.close(0));

const ask = async (method: string, path: string, body?: string, type = "text/plain"): Promise<[number, string]> => {
  const sent = body === undefined ? {} : { body, headers: { "content-type": type } };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, ...sent });
  return [response.status, await response.text()];
};

test("M1: payloads by lines, the ids by lines; other clients' are closed", async () => {
  expect(await ask("POST", "/default/job/resize/add", "one\n\ntwo\n")).toEqual([200, "1\n2\n"]);
  expect((await ask("POST", "/default/job/resize/add", "\n"))[0]).toBe(400);
  expect((await ask("POST", "/closed/job/resize/add", "one"))[0]).toBe(403);
});

test("M22: results are left to the type that the request names; a parameter that nobody knows is named", async () => {
  expect(await ask("POST", "/default/job/resize/add?onFinish=publish", "one\ntwo\n")).toEqual([200, "1\n2\n"]);
  for (const id of [1, 2]) {
    const [, job] = await ask("GET", `/v1/tenants/default/jobs/${id}`);
    expect(JSON.parse(job)).toMatchObject({ name: "resize", onFinish: "publish" });
  }
  expect(await ask("POST", "/default/job/resize/add?onFinish=a%2Cb", "one")).toEqual([
    400,
    expect.stringContaining("onFinish"),
  ]);
  for (const [method, path] of [
    ["POST", "/default/job/resize/add"],
    ["POST", "/default/handler/add/resize/add"],
    ["GET", "/default/handler/get/resize"],
    ["POST", "/default/handler/del/resize/delete"],
  ] as const) {
    const [status, answer] = await ask(method, `${path}?onfinish=publish`, method === "POST" ? "x" : undefined);
    expect([path, status, answer]).toEqual([path, 400, expect.stringContaining("onfinish")]);
  }
  const spec = JSON.stringify({ body: "return 200", onFinish: "publish" });
  expect((await ask("POST", "/default/handler/add/resize/add", spec, "application/json"))[0]).toBe(200);
  expect((await ask("GET", "/default/handler/get/resize"))[1]).toContain('"onFinish":"publish"');
});

test("M3: handlers are added as text or JSON, the newest is given, and they go", async () => {
  const [status, added] = await ask("POST", "/default/handler/add/resize/add?method=http", "http://a.example/run");
  expect([status, JSON.parse(added)]).toMatchObject([
    200,
    { lang: "http", body: "http://a.example/run", version: 1, by: "Ada" },
  ]);
  const whole = JSON.stringify({ body: "return 200", before: "setUp()" });
  expect((await ask("POST", "/default/handler/add/resize/add", whole, "application/json"))[0]).toBe(200);
  const [, got] = await ask("GET", "/default/handler/get/resize");
  expect(JSON.parse(got)).toMatchObject({ lang: "node", before: "setUp()", version: 2 });
  expect((await ask("GET", "/default/handler/get/resize@1"))[1]).toContain("http://a.example/run");
  expect((await ask("GET", "/closed/handler/get/resize"))[0]).toBe(403);
  expect((await ask("POST", "/default/handler/add/resize/add?method=COBOL%2085", "x"))[0]).toBe(400);
  expect((await ask("DELETE", "/default/handler/del/resize/delete"))[1]).toBe('{"versions":[1,2]}');
  expect((await ask("POST", "/default/handler/del/resize/delete"))[0]).toBe(404);
  expect((await ask("GET", "/default/handler/get/resize"))[0]).toBe(404);
});

test("M2: a client is a tenant, not a way through the tree to somebody else's handlers", async () => {
  const operator = { ...ADA, role: "operator", tenants: "all" } as const;
  const open = await serveJobs(portsOf(new MemoryQueue()), operator);
  const status = async (method: string, path: string, body?: string): Promise<number> => {
    const sent = body === undefined ? {} : { body };
    return (await fetch(`http://127.0.0.1:${open.port}${path}`, { method, ...sent })).status;
  };
  expect(await status("POST", "/system/handler/add/clean-up/add", "return 200")).toBe(403);
  for (const client of ["system%2Fclean-up", "..%2Fs", "Acme", "%2e%2e%2fs", "a%00"]) {
    expect([client, await status("POST", `/${client}/handler/add/1/add`, "return 200")]).toEqual([client, 400]);
    expect([client, await status("GET", `/${client}/handler/get/1`)]).toEqual([client, 400]);
    expect([client, await status("DELETE", `/${client}/handler/del/1/delete`)]).toEqual([client, 400]);
    expect([client, await status("POST", `/${client}/job/t/add`, "x")]).toEqual([client, 400]);
  }
  await open.close(0);
});
