import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "@jest/globals";
import { endpoint } from "@sluice/wire";
import { z } from "zod";
import { makeClient, urlOf } from "../src/index.ts";

const THING = endpoint({
  id: "thing",
  method: "post",
  path: "/v1/things/{id}",
  group: "Things",
  summary: "A thing",
  permission: "see-deposits",
  params: z.object({ id: z.string() }),
  query: z.strictObject({ full: z.boolean().optional() }),
  body: z.strictObject({ name: z.string() }),
  answer: z.object({ name: z.string() }),
  status: 200,
});
const EVENTS = endpoint({
  id: "events",
  method: "get",
  path: "/v1/events",
  group: "Things",
  summary: "Events",
  permission: "see-deposits",
  answer: z.object({ n: z.number() }),
  status: 200,
  stream: true,
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

describe("calls", () => {
  it("say so when an answer breaks off in the middle", async () => {
    const baseUrl = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": 100 });
      response.write('{"name":', () => response.destroy());
    });
    const answer = await makeClient({ baseUrl }).call(THING, { params: { id: "1" }, body: { name: "x" } });
    expect(answer).toMatchObject({ ok: false, kind: "unreachable", why: expect.stringContaining("broke off") });
  });

  it("send what the endpoint says, with the token", async () => {
    const seen: unknown[] = [];
    const baseUrl = await serve((request, response) => {
      seen.push(request.method, request.url, request.headers.authorization);
      request.on("data", (data: Buffer) => seen.push(data.toString()));
      request.on("end", () => response.setHeader("content-type", "application/json").end('{"name":"answer"}'));
    });
    const client = makeClient({ baseUrl, token: "secret" });
    const answer = await client.call(THING, { params: { id: "a/b c" }, query: { full: true }, body: { name: "x" } });
    expect(answer).toEqual({ ok: true, status: 200, value: { name: "answer" } });
    expect(seen).toEqual(["POST", "/v1/things/a%2Fb%20c?full=true", "Bearer secret", '{"name":"x"}']);
  });

  it("hand over a problem document whole", async () => {
    const problem = { code: "CONFLICT", title: "No", status: 409, detail: "olga was faster", instance: "r-1" };
    const baseUrl = await serve((_request, response) =>
      response
        .writeHead(409, { "content-type": "application/problem+json", "retry-after": "7" })
        .end(JSON.stringify(problem)),
    );
    const answer = await makeClient({ baseUrl }).call(THING, { params: { id: "1" }, body: { name: "x" } });
    expect(answer).toEqual({ ok: false, kind: "refused", refusal: { ...problem, retryAfterSeconds: 7 } });
  });

  it("make sense of a proxy's own error page", async () => {
    const baseUrl = await serve((_request, response) => response.writeHead(502).end("<html>"));
    const answer = await makeClient({ baseUrl }).call(THING, { params: { id: "1" }, body: { name: "x" } });
    expect(answer).toMatchObject({ ok: false, kind: "refused", refusal: { status: 502, code: "HTTP_502" } });
  });

  it("say that nobody is there, and never follow a redirect with the token", async () => {
    const gone = await makeClient({ baseUrl: "http://127.0.0.1:1" }).call(THING, {
      params: { id: "1" },
      body: { name: "x" },
    });
    expect(gone).toMatchObject({ ok: false, kind: "unreachable" });
    const baseUrl = await serve((_request, response) =>
      response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
    );
    const moved = await makeClient({ baseUrl, token: "t" }).call(THING, { params: { id: "1" }, body: { name: "x" } });
    expect(moved).toMatchObject({ ok: false, kind: "unreachable" });
  });

  it("leave out what is not asked for", () => {
    expect(urlOf("http://x/", { path: "/v1/jobs" }, { query: { state: undefined, q: "", limit: 5 } })).toBe(
      "http://x/v1/jobs?limit=5",
    );
  });
});

describe("events", () => {
  it("come one by one, over a broken line too, until the end", async () => {
    const ids: unknown[] = [];
    const baseUrl = await serve((request, response) => {
      ids.push(request.headers["last-event-id"] ?? null);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("retry: 1\n\n");
      if (ids.length === 1) {
        response.write(": a beat\n\nevent: change\nid: 1\nda");
        response.write('ta: {"n":1}\n\n');
        response.write('event: change\nid: 2\ndata: {"n":2}\n\nevent: change\ndata: {"n"', () => response.destroy());
      } else response.end('event: change\nid: 3\ndata: {"n":3}\n\nevent: end\ndata: null\n\n');
    });
    const values: unknown[] = [];
    for await (const event of makeClient({ baseUrl }).events(EVENTS, {}))
      values.push(event.ok ? event.value : event.kind);
    expect(values).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(ids).toEqual([null, "2"]);
  });

  it("end with a refusal that will not change by itself", async () => {
    const baseUrl = await serve((_request, response) => response.writeHead(403).end("{}"));
    const kinds: unknown[] = [];
    for await (const event of makeClient({ baseUrl }).events(EVENTS, {}))
      kinds.push(event.ok ? event.value : event.kind);
    expect(kinds).toEqual(["refused"]);
  });

  it("end when the caller has heard enough", async () => {
    const baseUrl = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('event: change\ndata: {"n":1}\n\n');
    });
    const stop = new AbortController();
    const values: unknown[] = [];
    for await (const event of makeClient({ baseUrl }).events(EVENTS, { signal: stop.signal })) {
      values.push(event.ok ? event.value : event.kind);
      stop.abort();
    }
    expect(values).toEqual([{ n: 1 }]);
  });
});
