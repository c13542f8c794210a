/** How much one JSON body may bring, and who is refused before it is read. */
import { request as ask } from "node:http";

import { type Authenticator, ROLES } from "@sluice/access";
import { afterEach, describe, expect, test } from "@jest/globals";
import { callers, type HttpServer, JSON_DEPTH_MAX, jsonBodies, JsonScanner, problem } from "../src/index.ts";
import { holdBodies } from "../src/wall/hold-bodies.ts";
import { serve } from "./support.ts";

let server: HttpServer | null = null;
afterEach(async () => {
  await server?.close(0);
  server = null;
});

const JSON_TYPE = { "content-type": "application/json" };
const NESTED = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

async function start(options: NonNullable<Parameters<typeof jsonBodies>[1]>): Promise<string> {
  server = await serve((app) => {
    app.post(
      "/",
      jsonBodies(100_000, options),
      (request, response) => void response.json({ got: request.body as unknown }),
    );
  });
  return server.url;
}

const post = (url: string, body: string): Promise<Response> => fetch(url, { method: "POST", headers: JSON_TYPE, body });

describe("a JSON body", () => {
  test.each([
    ["values", JSON.stringify(Array.from({ length: 100 }, () => 1)), "the body has more than 50 values"],
    ["members", JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i]))), "50 values"],
  ])("with too many %s is refused as too large", async (_what, body, detail) => {
    const response = await post(await start({ maxValues: 50 }), body);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: "PAYLOAD_TOO_LARGE", detail: expect.stringContaining(detail) });
  });

  test("that is nested too deep is refused before it is parsed", async () => {
    const response = await post(await start({ maxValues: 1_000 }), NESTED(JSON_DEPTH_MAX + 1));
    const detail = `the body is nested more than ${JSON_DEPTH_MAX} levels deep`;
    expect([response.status, await response.json()]).toMatchObject([400, { code: "MALFORMED_REQUEST", detail }]);
  });

  test.each([
    ["brackets and commas in texts count for nothing", { a: '[[[[,,,,{{{{\\"', b: ["]", '"', ","] }],
    ["as deep as may be", JSON.parse(NESTED(JSON_DEPTH_MAX)) as unknown],
  ])("%s", async (_what, value) => {
    const response = await post(await start({ maxValues: 1_000 }), JSON.stringify(value));
    expect([response.status, await response.json()]).toEqual([200, { got: value }]);
  });
});

describe("a body whose first member says whose it is", () => {
  const FIRST = {
    name: "profile",
    withinBytes: 1_000,
    refuses: (value: string) => (value === "mine" ? null : problem("FORBIDDEN", `${value} is not yours`)),
  };
  /** More than a chunk. */
  const filler = "x".repeat(90_000);

  test("is refused before the rest is sent", async () => {
    const url = await start({ first: FIRST });
    const answered = new Promise<number | undefined>((resolve, reject) => {
      const sent = ask(url, { method: "POST", headers: { ...JSON_TYPE, "content-length": 90_000 } }, (response) => {
        resolve(response.statusCode);
        sent.destroy();
      });
      sent.on("error", reject);
      sent.write('{"profile": "theirs", "objects": [');
    });
    expect(await answered).toBe(403);
  });

  test.each([
    ["named first", `{"profile":"mine","a":"${filler}"}`, 200],
    ["small, named last", '{"a":1,"profile":"mine"}', 200],
    ["large, named last", `{"a":"${filler}","profile":"mine"}`, 413],
    ["large, not named", `{"a":"${filler}"}`, 413],
    ["named only further inside", `{"a":{"profile":"mine"},"b":"${filler}"}`, 413],
    ["named in escapes", `{"pro\\u0066ile":"their\\u0073","a":"${filler}"}`, 403],
    ["named twice: the last one is what counts", '{"profile":"mine","profile":"theirs"}', 403],
    ["above the limit of bytes", `{"profile":"mine","a":"${"x".repeat(100_000)}"}`, 413],
    ["no JSON", '{"profile":"mine"', 400],
    ["no object", '"mine"', 400],
  ])("%s: %#", async (_what, body, status) => {
    expect((await post(await start({ first: FIRST }), body)).status).toBe(status);
  });

  test("is found wherever the chunks end", () => {
    const bytes = Buffer.from('{ "a": [1, {"profile": "no"}], "profile" : "m\\u00efné" }');
    for (let at = 0; at <= bytes.length; at++) {
      const scanner = new JsonScanner({ maxValues: 100, maxDepth: 10 }, "profile");
      scanner.scan(bytes.subarray(0, at));
      scanner.scan(bytes.subarray(at));
      expect(scanner.found).toBe("mïné");
    }
  });
});

describe("bodies of one caller", () => {
  test("beyond the limit are answered 429, and others' are not", async () => {
    const caller = (id: string) => ({ id, name: id, role: ROLES[0], scope: "all", tenants: "all" }) as const;
    const authenticator: Authenticator = {
      authenticate: (header) => Promise.resolve({ kind: "caller", caller: caller(header ?? "") }),
    };
    let finishFirst: () => void = () => undefined;
    let tellStarted: () => void = () => undefined;
    const started = new Promise<void>((resolve) => (tellStarted = resolve));
    server = await serve((app) => {
      app.use(callers({ authenticator }), holdBodies(1_000), jsonBodies());
      app.post("/slow", (_request, response) => {
        finishFirst = () => void response.json({});
        tellStarted();
      });
      app.post("/", (_request, response) => void response.json({}));
    });
    const { url } = server;
    const body = JSON.stringify({ a: "x".repeat(600) });
    const send = (path: string, authorization: string): Promise<Response> =>
      fetch(url + path, { method: "POST", headers: { ...JSON_TYPE, authorization }, body });
    const first = send("/slow", "ada");
    await started;
    const refused = await send("/", "ada");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await send("/", "bob")).status).toBe(200);
    finishFirst();
    await (await first).text();
    expect((await send("/", "ada")).status).toBe(200);
  });
});
