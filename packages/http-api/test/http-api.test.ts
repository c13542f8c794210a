import { once } from "node:events";
import { connect } from "node:net";

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Express } from "express";
import { z } from "zod";

import {
  createApp,
  type HttpServer,
  jsonBodies,
  listen,
  problem,
  type ProblemCode,
  PROBLEMS,
  problemType,
  readInput,
  route,
} from "../src/index.ts";

const Batch = z.strictObject({
  profile: z.string().min(1),
  objects: z.array(z.strictObject({ "file/name": z.string() })).optional(),
});

let server: HttpServer;
let errors: { error: unknown; requestId: string }[];
const releases: (() => void)[] = [];

function addRoutes(app: Express): void {
  app.get(
    "/hello",
    route(() => ({ status: 200, body: { hello: "world" }, headers: { ETag: '"1"' } })),
  );
  app.get(
    "/nothing",
    route(() => ({ status: 204 })),
  );
  app.get(
    "/busy",
    route(() => ({ problem: problem("UNAVAILABLE", "come back", { retryAfterSeconds: 2.5 }) })),
  );
  app.get(
    "/throws",
    route(() => Promise.reject(new Error("password=secret in /srv/app.js"))),
  );
  app.get("/throws-now", () => {
    throw new Error("secret");
  });
  app.get("/half", (_request, response) => {
    response.write("half of");
    throw new Error("secret");
  });
  app.get(
    "/names/:name",
    route((request) => ({ status: 200, body: request.params })),
  );
  app.get("/slow", (_request, response) => {
    releases.push(() => response.end("done"));
  });
  app.get(
    "/list",
    route((request) => {
      const query = readInput(z.strictObject({ limit: z.coerce.number().max(1000) }), request.query, "query");
      return query.ok ? { status: 200, body: query.value } : { problem: query.problem };
    }),
  );
  app.post(
    "/batches",
    jsonBodies(1000),
    route((request) => {
      const body = readInput(Batch, request.body);
      return body.ok ? { status: 201, body: body.value } : { problem: body.problem };
    }),
  );
}

async function start(): Promise<HttpServer> {
  const app = createApp({ onError: (error, requestId) => errors.push({ error, requestId }) }, addRoutes);
  const listening = await listen(app, { port: 0 });
  if (!listening.ok) throw new Error(listening.message);
  return listening.server;
}

beforeEach(async () => {
  errors = [];
  server = await start();
});
afterEach(() => server.close(0));

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(server.url + path, init);
  const text = await response.text();
  return { response, text, body: (text.startsWith("{") ? JSON.parse(text) : text) as Record<string, unknown> };
}

const post = (body: string, type = "application/json") =>
  ask("/batches", { method: "POST", body, headers: { "content-type": type } });

describe("an answer", () => {
  test("carries body, headers and the request's id", async () => {
    const { response, body } = await ask("/hello");
    expect(body).toEqual({ hello: "world" });
    expect(response.headers.get("etag")).toBe('"1"');
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get("x-powered-by")).toBeNull();
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("may be empty", async () => {
    const { response, text } = await ask("/nothing");
    expect([response.status, text]).toEqual([204, ""]);
  });

  test("keeps the caller's own id if it is harmless, and only then", async () => {
    const good = await ask("/hello", { headers: { "x-request-id": "trace-0123456789" } });
    expect(good.response.headers.get("x-request-id")).toBe("trace-0123456789");
    const bad = await ask("/hello", { headers: { "x-request-id": "<script>alert(1)</script>" } });
    expect(bad.response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("a problem", () => {
  test("is a document by RFC 9457", async () => {
    const { response, body } = await ask("/none", { headers: { "x-request-id": "request-1" } });
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(body).toEqual({
      type: "/problems/not-found",
      title: "Not found",
      status: 404,
      detail: "there is no GET /none",
      instance: "request-1",
      code: "NOT_FOUND",
    });
  });

  test("tells when to come back", async () => {
    const { response } = await ask("/busy");
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "3"]);
  });

  test("has a type of its own for every code", () => {
    const codes = Object.keys(PROBLEMS) as ProblemCode[];
    expect(new Set(codes.map(problemType)).size).toBe(codes.length);
    expect(codes.every((code) => /^\/problems\/[a-z]+(-[a-z]+)*$/.test(problemType(code)))).toBe(true);
  });
});

describe("wrong input", () => {
  test("is named by pointer, every fault at once", async () => {
    const { response, body } = await post(JSON.stringify({ objects: [{ "file/name": 1 }], colour: "blue" }));
    expect(response.status).toBe(400);
    expect(body["code"]).toBe("INVALID_REQUEST");
    expect((body["errors"] as { pointer: string }[]).map(({ pointer }) => pointer).sort()).toEqual([
      "/colour",
      "/objects/0/file~1name",
      "/profile",
    ]);
  });

  test("in a query is named by field", async () => {
    const { body } = await ask("/list?limit=5000");
    expect(body["errors"]).toEqual([{ field: "limit", detail: expect.any(String) }]);
  });

  test.each([
    ["no JSON", '{"profile":', "application/json", 400, "MALFORMED_REQUEST"],
    ["a bare string", '"x"', "application/json", 400, "MALFORMED_REQUEST"],
    ["nothing", "", "application/json", 400, "INVALID_REQUEST"],
    ["another type", "a=b", "application/x-www-form-urlencoded", 400, "INVALID_REQUEST"],
    ["too much", JSON.stringify({ profile: "x".repeat(2000) }), "application/json", 413, "PAYLOAD_TOO_LARGE"],
    ["an unknown character set", "{}", "application/json; charset=x-none", 415, "UNSUPPORTED_MEDIA_TYPE"],
  ])("like %s is a problem of the client's", async (_name, body, type, status, code) => {
    const answer = await post(body, type);
    expect([answer.response.status, answer.body["code"]]).toEqual([status, code]);
    expect(errors).toEqual([]);
  });

  test("like a body that is nested deeper than any of ours is refused before it is parsed", async () => {
    const { response, body } = await post("[".repeat(900));
    expect([response.status, body["detail"]]).toEqual([400, "the body is nested more than 120 levels deep"]);
    // Brackets in a text are none.
    expect((await post(JSON.stringify({ profile: '"[{\\'.repeat(150) }))).response.status).toBe(201);
  });

  test("like a path that cannot be decoded is one too", async () => {
    expect((await ask("/names/%E0%A4%A")).body["code"]).toBe("MALFORMED_REQUEST");
  });

  test("cannot reach the prototype of anything", async () => {
    await post('{"profile":"x","__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

test.each([
  ["that is no request", "NONSENSE\r\n\r\n", 400, "MALFORMED_REQUEST"],
  ["with a forged line end", "GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n", 400, "MALFORMED_REQUEST"],
  ["with huge headers", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, 431, "HEADERS_TOO_LARGE"],
])("what arrives %s is refused with a problem, too", async (_what, sent, status, code) => {
  const socket = connect(server.port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("utf8")));
  socket.end(sent);
  await once(socket, "close");
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toContain("Content-Type: application/problem+json");
  expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toMatchObject({ status, code });
});

describe("an error of ours", () => {
  test.each(["/throws", "/throws-now"])("at %s is told to us and hidden from the client", async (path) => {
    const { response, body, text } = await ask(path);
    expect([response.status, body["code"]]).toEqual([500, "INTERNAL_ERROR"]);
    expect(text).not.toMatch(/secret|app\.js|Error:/);
    expect(errors).toHaveLength(1);
    expect(errors[0]!.requestId).toBe(body["instance"]);
  });

  test("in the middle of an answer breaks it off", async () => {
    await expect(ask("/half")).rejects.toThrow();
    expect(errors).toHaveLength(1);
  });
});

describe("closing", () => {
  test("lets a running request finish", async () => {
    const running = ask("/slow");
    while (releases.length === 0) await new Promise(setImmediate);
    const closed = server.close(60_000);
    releases.pop()!();
    expect((await running).text).toBe("done");
    await closed;
  });

  test("cuts a request that takes longer than the grace, and idle connections at once", async () => {
    const idle = connect(server.port, "127.0.0.1");
    await once(idle, "connect");
    const running = ask("/slow").catch(() => "cut");
    while (releases.length === 0) await new Promise(setImmediate);
    await server.close(1);
    expect(await running).toBe("cut");
    releases.pop();
    idle.destroy();
  });

  test("twice is fine", async () => {
    await server.close(0);
    await server.close(0);
  });
});

test("a port that is taken is an answer", async () => {
  const second = await listen(() => undefined, { port: server.port });
  expect(second).toEqual({ ok: false, message: `cannot listen on 127.0.0.1:${server.port} (EADDRINUSE)` });
});

test("only this machine is served unless the configuration says otherwise", () => {
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
});
