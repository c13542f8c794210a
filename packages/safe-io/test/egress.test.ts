import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import {
  createEgress,
  type Egress,
  type EgressConfig,
  IoError,
  LOOPBACK,
  type Outcome,
  PUBLIC_ONLY,
} from "../src/index.ts";
import {
  type Behaviour,
  content,
  endless,
  redirect,
  silent,
  stalling,
  startRawServer,
  startServer,
  status,
  type TestServer,
  truncated,
} from "./misbehaving-server.ts";

let server: TestServer;
const opened: Egress[] = [];

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await Promise.all(opened.map((egress) => egress.close()));
  await server.close();
});

function make(config: EgressConfig = {}): Egress {
  const egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, ...config });
  opened.push(egress);
  return egress;
}

const errorOf = (outcome: Outcome<unknown>) => (outcome.ok ? "it worked" : outcome.error);

async function bodyError(egress: Egress, url: string, options = {}) {
  const response = await egress.get(url, options);
  if (!response.ok) return response.error;
  const text = await response.value.text();
  return errorOf(text);
}

describe("get", () => {
  test("gives status, headers and the body", async () => {
    const url = server.on("/hello", content("hello", { "content-type": "text/plain", etag: '"1"' }));
    const response = await make().get(`${url}?signature=secret`);
    if (!response.ok) throw new IoError(response.error);
    expect(response.value.status).toBe(200);
    expect(response.value.contentLength).toBe(5);
    expect(response.value.headers.get("etag")).toBe('"1"');
    expect(response.value.url).toBe(`${url}?…`);
    expect(await response.value.text()).toEqual({ ok: true, value: "hello" });
  });

  test("never asks for compression and hands on raw bytes", async () => {
    const url = server.on("/raw", content("not really gzip", { "content-encoding": "gzip" }));
    const response = await make().get(url);
    expect(response.ok && (await response.value.text())).toEqual({ ok: true, value: "not really gzip" });
    expect(server.requests.at(-1)?.headers["accept-encoding"]).toBe("identity");
  });

  test("sends basic credentials as a header", async () => {
    await make().get(server.on("/auth", content("x")), { basicAuth: { user: "me", password: "pass" } });
    expect(server.requests.at(-1)?.headers.authorization).toBe("Basic bWU6cGFzcw==");
  });

  test.each([
    [404, false],
    [410, false],
    [401, false],
    [403, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
  ])("HTTP %i is an error, worth another try: %s", async (code, retryable) => {
    const outcome = await make().get(server.on("/status", status(code)));
    expect(errorOf(outcome)).toMatchObject({ code: "HTTP_STATUS", status: code, retryable });
  });

  test("passes on when the host wants to be asked again", async () => {
    const egress = make({ nowMs: () => Date.parse("2030-01-01T00:00:00Z") });
    const seconds = await egress.get(server.on("/later", status(503, { "retry-after": "120" })));
    expect(errorOf(seconds)).toMatchObject({ retryAfterMs: 120_000 });
    const date = await egress.get(server.on("/date", status(429, { "retry-after": "Tue, 01 Jan 2030 00:01:00 GMT" })));
    expect(errorOf(date)).toMatchObject({ retryAfterMs: 60_000 });
    const nonsense = await egress.get(server.on("/nonsense", status(503, { "retry-after": "soon" })));
    expect(errorOf(nonsense)).not.toHaveProperty("retryAfterMs");
  });

  test("a status may be declared an answer", async () => {
    const response = await make().get(server.on("/400", status(400)), { accepts: (code) => code === 400 });
    expect(response.ok && (await response.value.text())).toEqual({ ok: true, value: "status 400" });
  });
});

describe("head", () => {
  test("gives the length of a file, also one that is larger than any answer may be", async () => {
    const response = await make({ maxResponseBytes: 10 }).head(server.on("/large", content("x".repeat(1000))));
    expect(response.ok && response.value.contentLength).toBe(1000);
  });

  test("uses a connection again", async () => {
    const egress = make({ connectionsPerHost: 1 });
    const url = server.on("/again", content("x"));
    for (let i = 0; i < 3; i += 1) expect((await egress.head(url)).ok).toBe(true);
  });
});

test("a host has no more connections of ours than are allowed; what is asked beyond them waits", async () => {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const slow: Behaviour = (_request, response) => {
    if (isOpen) response.end("x");
    else waiting.push(() => response.end("x"));
  };
  const egress = make({ connectionsPerHost: 2 });
  const url = server.on("/slow", slow);
  const asked = Array.from({ length: 6 }, () => bodyError(egress, url));
  // What was asked before another one's requests, and could be sent, has arrived when these have been answered.
  const other = make();
  const quick = server.on("/quick", content("x"));
  for (let rounds = 0; rounds < 5 || waiting.length < 2; rounds += 1)
    expect(await bodyError(other, quick)).toBe("it worked");
  expect(waiting).toHaveLength(2);
  isOpen = true;
  for (const answer of waiting) answer();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["it worked"]));
});

describe("post", () => {
  test("sends body and type, and repeats them where the host says so", async () => {
    const url = server.on("/moved", redirect("/callback", 307));
    const seen: string[] = [];
    server.on("/callback", (request, response) => {
      request.on("data", (chunk: Buffer) => seen.push(chunk.toString()));
      request.on("end", () => response.end(`${request.method ?? ""} ${request.headers["content-type"] ?? ""}`));
    });
    const response = await make().post(url, { contentType: "application/json", body: "{}" });
    expect(response.ok && (await response.value.text())).toEqual({ ok: true, value: "POST application/json" });
    expect(seen).toEqual(["{}"]);
  });

  test("does not turn into a GET", async () => {
    const url = server.on("/see", redirect("/other", 302));
    const outcome = await make().post(url, { contentType: "text/plain", body: "x" });
    expect(errorOf(outcome)).toMatchObject({ code: "HTTP_STATUS", status: 302 });
  });

  test("a header that would break out of its line is not sent", async () => {
    const before = server.requests.length;
    const outcome = await make().post(server.on("/crlf", content("x")), {
      contentType: "text/plain",
      body: "x",
      headers: { "x-name": "a\r\nx-evil: b" },
    });
    expect(errorOf(outcome)).toMatchObject({ code: "EGRESS_REFUSED", retryable: false });
    expect(server.requests.length).toBe(before);
  });
});

describe("redirects", () => {
  test("are followed, without credentials to another host", async () => {
    const other = await startServer();
    const goal = other.on("/goal", content("found"));
    const url = server.on("/start", redirect("/middle"));
    server.on("/middle", redirect(goal, 308));
    const response = await make().get(url, { basicAuth: { user: "me", password: "pass" } });
    expect(response.ok && response.value.url).toBe(goal);
    expect(server.requests.at(-1)?.headers.authorization).toBeDefined();
    expect(other.requests.at(-1)?.headers.authorization).toBeUndefined();
    if (response.ok) response.value.discard();
    await other.close();
  });

  test("in a circle end", async () => {
    const url = server.on("/circle", redirect("/circle"));
    const before = server.requests.length;
    expect(errorOf(await make().get(url))).toMatchObject({ code: "TOO_MANY_REDIRECTS", retryable: false });
    expect(server.requests.length - before).toBe(6);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "file:///etc/passwd",
    "ftp://example.org/",
    "gopher://127.0.0.1/",
    "http://me:pass@127.0.0.1/",
  ])("to %s are refused", async (location) => {
    const outcome = await make().get(server.on("/bad", redirect(location)));
    expect(errorOf(outcome)).toMatchObject({ code: "EGRESS_REFUSED", retryable: false });
    expect(JSON.stringify(outcome)).not.toContain("pass@");
  });

  test("to a port that is not allowed are refused", async () => {
    const port = Number(new URL(server.url).port);
    const egress = make({ policy: { ...PUBLIC_ONLY, allow: [{ cidr: "127.0.0.0/8", ports: [port] }] } });
    const outcome = await egress.get(server.on("/zk", redirect("http://127.0.0.1:2181/")));
    expect(errorOf(outcome)).toMatchObject({ code: "EGRESS_REFUSED" });
  });
});

describe("a host that misbehaves", () => {
  test("by sending less than it said is noticed", async () => {
    const url = server.on("/short", truncated(Buffer.alloc(10_000), 4_000));
    expect(await bodyError(make(), url)).toMatchObject({ code: "CONNECTION_LOST", retryable: true });
  });

  test("by sending without end is cut off", async () => {
    expect(await bodyError(make(), server.on("/endless", endless), { maxBytes: 1_000_000 })).toMatchObject({
      code: "TOO_LARGE",
      retryable: false,
    });
  });

  test("by announcing too much is not listened to", async () => {
    const url = server.on("/announced", content("x".repeat(2_000)));
    expect(errorOf(await make().get(url, { maxBytes: 1_000 }))).toMatchObject({ code: "TOO_LARGE" });
  });

  test("by falling silent in the middle is left", async () => {
    const url = server.on("/stall", stalling);
    expect(await bodyError(make({ idleTimeoutMs: 50 }), url)).toMatchObject({ code: "TIMEOUT", retryable: true });
  });

  test("by never answering is left", async () => {
    const url = server.on("/silent", silent);
    expect(errorOf(await make({ idleTimeoutMs: 50 }).get(url))).toMatchObject({ code: "TIMEOUT", retryable: true });
  });

  test("by going on for too long is left, also in the body", async () => {
    const url = server.on("/slow", endless);
    expect(await bodyError(make({ totalTimeoutMs: 50 }), url)).toMatchObject({ code: "TIMEOUT" });
  });

  test("by not speaking HTTP is told apart", async () => {
    const raw = await startRawServer("SSH-2.0-OpenSSH_9.2\r\n\r\n");
    expect(errorOf(await make().get(raw.url))).toMatchObject({ code: "PROTOCOL_ERROR", retryable: false });
    await raw.close();
  });

  test("by not being there is told", async () => {
    const gone = await startServer();
    await gone.close();
    expect(errorOf(await make().get(gone.url))).toMatchObject({ code: "CONNECT_FAILED", retryable: true });
  });

  test("by having no address is told", async () => {
    const egress = make({
      resolve: () => Promise.reject(Object.assign(new Error("no such host"), { code: "ENOTFOUND" })),
    });
    expect(errorOf(await egress.get("http://nowhere.example/"))).toMatchObject({ code: "DNS_FAILED", retryable: true });
  });
});

test("the caller can stop at any time", async () => {
  const controller = new AbortController();
  const url = server.on("/stop", (_request, response) => {
    response.writeHead(200).write("x");
    controller.abort();
  });
  expect(await bodyError(make(), url, { signal: controller.signal })).toMatchObject({
    code: "ABORTED",
    retryable: false,
  });
  expect(errorOf(await make().get(url, { signal: AbortSignal.abort() }))).toMatchObject({ code: "ABORTED" });
});

test("no message shows a query string", async () => {
  const url = `${server.on("/secret", status(500))}?X-Signature=abcdef`;
  expect(JSON.stringify(await make().get(url))).not.toContain("abcdef");
});
