import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createEgress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { serveHttp, type HttpServer, type Received } from "@sluice/testkit";
import { httpRunner } from "../src/run/http-runner.ts";
import type { Ended, Runner } from "../src/run/types.ts";
import { aHandler, aJob } from "./support/sandbox.ts";

let server: HttpServer;
let guarded: Runner;
let runner: Runner;
const received: Received[] = [];
const sockets = new Set<unknown>();

beforeAll(async () => {
  server = await serveHttp((request, response) => {
    received.push(request);
    sockets.add(response.socket);
    if (request.path === "/silent") return;
    if (request.path === "/away") return void response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    if (request.path === "/broken") return void response.writeHead(500).end("200\n");
    const lines = request.body.split("\n").slice(0, -1);
    if (request.path === "/asks")
      return void response.end(lines.map((line) => `J: after|${line}\n200 ${line.toUpperCase()}`).join("\n"));
    response.end(lines.map((line) => (line === "bad" ? "499 no good" : `200 ${line.toUpperCase()}`)).join("\n"));
  });
  const policy = { ...PUBLIC_ONLY, allow: LOOPBACK };
  runner = httpRunner({ egress: createEgress({ policy, maxRedirects: 0, connectionsPerHost: 10 }), timeoutMs: 10_000 });
  guarded = httpRunner({ egress: createEgress({ maxRedirects: 0 }), timeoutMs: 10_000 });
});
afterAll(async () => {
  await runner.close();
  await guarded.close();
  await server.close();
});

async function run(
  path: string,
  payloads: readonly string[],
  by = runner,
  timeoutMs?: number,
): Promise<readonly Ended[]> {
  const jobs = payloads.map((payload) => aJob(payload));
  const ends: Ended[] = [];
  const handler = aHandler(server.url + path, { lang: "http", ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  const never = new AbortController().signal;
  await by.run({ tenant: "alpha", type: "t", jobs }, handler, {
    signalOf: () => never,
    started: () => undefined,
    settle: (_, ended) => Promise.resolve(void ends.push(ended)),
    step: () => Promise.resolve(),
  });
  return ends;
}

test("M29: a batch is one request, and one bad job does not fail the others", async () => {
  received.length = 0;
  const ends = await run("/ok", ["a", "bad", "two\nlines"]);
  expect(ends).toEqual([
    { exit: 200, result: "A" },
    { exit: 499, result: "no good" },
    { exit: 200, result: "TWO LINES" },
  ]);
  expect(received).toHaveLength(1);
  expect(String(received[0]!.headers["job-ids"]).split(",")).toHaveLength(3);
});

test("M21: its answer may ask for new jobs, for each job of the batch", async () => {
  expect(await run("/asks", ["a", "b"])).toEqual([
    { exit: 200, result: "A", lines: ["J: after|a"] },
    { exit: 200, result: "B", lines: ["J: after|b"] },
  ]);
});

test("connections are kept", async () => {
  sockets.clear();
  for (let at = 0; at < 5; at += 1) await run("/ok", ["x"]);
  expect(sockets.size).toBeLessThan(3);
});

test("a server that fails, or says nothing in time, is an error that is tried again", async () => {
  expect(await run("/broken", ["a", "b"])).toEqual([
    { exit: 502, result: expect.stringContaining("500") },
    { exit: 502, result: expect.stringContaining("500") },
  ]);
  expect(await run("/silent", ["a"], runner, 200)).toMatchObject([{ exit: 504 }]);
});

test("tenants' URLs lead to public hosts alone, by redirects too", async () => {
  received.length = 0;
  expect(await run("/ok", ["a"], guarded)).toEqual([{ exit: 403, result: expect.stringContaining("is not asked") }]);
  expect(received).toHaveLength(0);
  expect(await run("/away", ["a"])).toMatchObject([{ exit: 502 }]);
});
