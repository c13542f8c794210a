import { afterEach, describe, expect, it } from "@jest/globals";
import type { Authenticator, Caller } from "@sluice/access";
import { z } from "zod";
import {
  addOperations,
  callerOf,
  callers,
  type Forbidden,
  type HttpServer,
  type WallOptions,
  wall,
  type BrowserSession,
  type CallersOptions,
  cookieOf,
  makeEventStreams,
  makeGuesses,
  openApiDocument,
  operation,
} from "../src/index.ts";
import { readEvents, serve } from "./support.ts";
import { request as httpRequest } from "node:http";
import { once } from "node:events";

const CALLERS: Readonly<Record<string, Caller>> = {
  vera: { id: "token:vera", name: "Vera", role: "viewer", scope: "all", tenants: "all" },
  olga: { id: "token:olga", name: "Olga", role: "operator", scope: "all", tenants: "all" },
};
const authenticator: Authenticator = {
  authenticate: (header) => {
    if (header === undefined) return Promise.resolve({ kind: "anonymous" });
    const caller = CALLERS[header.replace("Bearer ", "")];
    if (header === "Bearer silence") return Promise.resolve({ kind: "silence" });
    const tokenId = /^Bearer slc_([a-z0-9]+)_/.exec(header)?.[1];
    const refused = { kind: "refused", why: "unknown", ...(tokenId === undefined ? {} : { tokenId }) } as const;
    return Promise.resolve(caller === undefined ? refused : { kind: "caller", caller });
  },
};

const act = operation(
  {
    id: "act",
    method: "post",
    path: "/v1/act",
    group: "Acting",
    summary: "Act",
    permission: "act-on-deposits",
    body: { json: z.strictObject({ reason: z.string() }) },
    responses: { 200: { description: "done" } },
  },
  (_input, _request, response) => ({ status: 200, body: { by: callerOf(response).name } }),
);

let server: HttpServer;
afterEach(async () => server.close(0));

interface Limits {
  readonly calls?: number;
  readonly guesses?: number;
  readonly hosts?: WallOptions["hosts"];
  readonly trustedProxies?: readonly string[];
}

/** Its cookie names whose session it is; "ended" is one that was. */
const sessions: CallersOptions["sessions"] = {
  find(request): BrowserSession | null | undefined {
    const name = cookieOf(request, "sluice");
    if (name === undefined || name === "ended") return name === undefined ? undefined : null;
    return { credentials: `Bearer ${name}`, isOpen: () => true, end: () => ended.push(name) };
  },
};
let ended: string[] = [];
let forbidden: Forbidden[] = [];

const start = async (limits: Limits = {}): Promise<void> => {
  [ended, forbidden] = [[], []];
  const { calls = 100, guesses = 100, hosts = "any", trustedProxies = [] } = limits;
  server = await serve(
    (app) => {
      app.use(...wall({ authenticator, sessions, guesses: makeGuesses(guesses), callsPerMinute: calls, hosts }));
      addOperations(app, [act]);
    },
    {},
    { trustedProxies, onForbidden: (what) => void forbidden.push(what) },
  );
};

/** fetch says itself where it asks; this says what it is told. */
async function postRaw(headers: Record<string, string>): Promise<number> {
  const asked = httpRequest(`${server.url}/v1/act`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
  });
  asked.end('{"reason":"a test"}');
  const [answer] = (await once(asked, "response")) as [{ statusCode?: number; resume: () => void }];
  answer.resume();
  return answer.statusCode ?? 0;
}
const post = (headers: Record<string, string>, body = '{"reason":"a test"}') =>
  fetch(`${server.url}/v1/act`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });

describe("the wall", () => {
  it("lets in whose role allows it, and tells the handler who it is", async () => {
    await start();
    const answer = await post({ authorization: "Bearer olga" });
    expect([answer.status, await answer.json()]).toEqual([200, { by: "Olga" }]);
  });

  it("tells who asked for what they may not, without the query of their request", async () => {
    await start();
    const ask = async (who: string): Promise<void> => {
      const headers = {
        authorization: `Bearer ${who}`,
        "content-type": "application/json",
        "x-request-id": `of-${who}-1`,
      };
      const url = `${server.url}/v1/act?token=secret`;
      await (await fetch(url, { method: "POST", headers, body: '{"reason":"a test"}' })).text();
    };
    for (const who of ["vera", "olga", "eve"]) await ask(who);
    const asked = { method: "POST", path: "/v1/act", requestId: "of-vera-1" };
    expect(forbidden).toEqual([{ caller: "token:vera", from: expect.stringContaining("127.0.0.1"), ...asked }]);
  });

  it.each([
    ["nobody", {}, 401, "UNAUTHENTICATED"],
    ["a stranger", { authorization: "Bearer eve" }, 401, "UNAUTHENTICATED"],
    ["a viewer", { authorization: "Bearer vera" }, 403, "FORBIDDEN"],
    ["somebody who cannot be checked", { authorization: "Bearer silence" }, 503, "UNAVAILABLE"],
  ])("answers %s with a problem, before it reads the body", async (_who, headers, status, code) => {
    await start();
    const answer = await post(headers, "{not json");
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([status, code]);
    expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? 'Bearer realm="sluice"' : null);
  });

  it("takes the cookie of its own pages only", async () => {
    await start();
    const cookie = "other=1; sluice=olga";
    expect((await post({ cookie, "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await post({ cookie, origin: server.url })).status).toBe(200);
    expect((await post({ cookie, "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await post({ cookie, "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await post({ cookie, origin: "http://evil.example" })).status).toBe(403);
    expect((await post({ cookie })).status).toBe(403);
    expect((await post({ cookie, origin: "null" })).status).toBe(403);
  });

  it("does not take what stands in a session's cookie for a token, nor a token for a session", async () => {
    await start();
    expect((await post({ cookie: "sluice=ended", "sec-fetch-site": "same-origin" })).status).toBe(401);
    expect((await post({ authorization: "Bearer ended" })).status).toBe(401);
  });

  it("ends the session whose token has ended", async () => {
    await start();
    expect((await post({ cookie: "sluice=eve", "sec-fetch-site": "same-origin" })).status).toBe(401);
    expect((await post({ cookie: "sluice=silence", "sec-fetch-site": "same-origin" })).status).toBe(503);
    expect(ended).toEqual(["eve"]);
  });

  it("refuses pages of other sites, also those that come with nothing", async () => {
    await start();
    const authorization = "Bearer olga";
    for (const site of ["cross-site", "same-site"])
      expect((await post({ authorization, "sec-fetch-site": site })).status).toBe(403);
    expect((await post({ authorization, origin: "http://evil.example" })).status).toBe(403);
    expect((await post({ authorization, "sec-fetch-site": "none" })).status).toBe(200);
    expect((await post({ authorization, origin: server.url })).status).toBe(200);
  });

  it("answers to this machine's own names only while anybody may do everything", async () => {
    await start({ hosts: "this-machine" });
    const authorization = "Bearer olga";
    const { port } = server;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, "127.0.0.1"])
      expect([host, await postRaw({ authorization, host })]).toEqual([host, 200]);
    for (const host of [`evil.example:${port}`, "127.example.org", `localhost.evil.example:${port}`, "10.0.0.1", "a b"])
      expect([host, await postRaw({ authorization, host })]).toEqual([host, 403]);
    // Asked by its own name, as a page is whose name was pointed here.
    expect(await postRaw({ authorization, host: "evil.example", origin: "http://evil.example" })).toBe(403);
  });

  it("slows down one caller, not the others", async () => {
    await start({ calls: 2 });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await post({ authorization: "Bearer olga" })).status);
    expect(statuses).toEqual([200, 200, 429]);
    const answer = await post({ authorization: "Bearer olga" });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ code: "TOO_MANY_REQUESTS", status: 429 });
    expect((await post({ authorization: "Bearer vera" })).status).toBe(403);
  });

  it("slows down whoever guesses, and does not count those who are right", async () => {
    await start({ guesses: 2 });
    for (let i = 0; i < 5; i++) expect((await post({ authorization: "Bearer olga" })).status).toBe(200);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await post({ authorization: `Bearer guess${i}` })).status);
    expect(statuses).toEqual([401, 401, 429]);
    const answer = await post({ authorization: "Bearer guess" });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("lets a valid token pass however many wrong ones came from the same address", async () => {
    await start({ guesses: 60 });
    const guesses = await Promise.all(
      Array.from({ length: 61 }, (_, i) => post({ authorization: `Bearer guess${i}` })),
    );
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(1);
    expect((await post({ authorization: "Bearer olga" })).status).toBe(200);
    expect((await post({ cookie: "sluice=olga", origin: server.url })).status).toBe(200);
    // Who shows nothing guesses at nothing.
    expect((await post({})).status).toBe(401);
  });

  it("counts guesses by the client's address where a proxy that is trusted names it", async () => {
    await start({ guesses: 1, trustedProxies: ["loopback"] });
    const guess = async (from: string) =>
      (await post({ authorization: "Bearer guess", "x-forwarded-for": from })).status;
    expect([await guess("192.0.2.1"), await guess("192.0.2.1"), await guess("192.0.2.2")]).toEqual([401, 429, 401]);
    await server.close(0);
    await start({ guesses: 1 });
    expect([await guess("192.0.2.1"), await guess("192.0.2.2")]).toEqual([401, 429]);
  });

  it("counts guesses at one token, wherever they come from", async () => {
    await start({ guesses: 1, trustedProxies: ["loopback"] });
    const token = `slc_${"a".repeat(12)}_${"b".repeat(43)}`;
    const guess = async (from: string) =>
      (await post({ authorization: `Bearer ${token}`, "x-forwarded-for": from })).status;
    expect([await guess("192.0.2.1"), await guess("192.0.2.2")]).toEqual([401, 429]);
  });

  it("takes many at once from one address for no guesses", async () => {
    await start({ guesses: 2 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => post({ authorization: "Bearer olga" })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it("does not listen to the end to whoever may not", async () => {
    await start();
    // Begins, and never ends.
    const endless = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.alloc(16)) });
    const answer = await fetch(`${server.url}/v1/act`, {
      method: "POST",
      body: endless,
      duplex: "half",
    });
    expect([answer.status, answer.headers.get("connection")]).toEqual([401, "close"]);
  });

  it("is in the document", () => {
    const document = openApiDocument({ title: "t", version: "1", description: "d", groups: { Acting: "acts" } }, [act]);
    expect(document.paths["/v1/act"]?.["post"]?.security).toEqual([{ bearer: [] }]);
    expect(Object.keys(document.paths["/v1/act"]?.["post"]?.responses ?? {})).toEqual(
      expect.arrayContaining(["401", "403", "429"]),
    );
    expect(document.components.securitySchemes?.["bearer"]).toMatchObject({ type: "http", scheme: "bearer" });
  });

  it("sends headers that leave a browser nothing to do", async () => {
    await start();
    const { headers } = await post({ authorization: "Bearer olga" });
    expect(headers.get("content-security-policy")?.split(";")).toEqual(
      ["default-src", "object-src", "base-uri", "form-action", "frame-ancestors"].map((what) => `${what} 'none'`),
    );
    expect(headers.get("strict-transport-security")).toBe("max-age=31536000; includeSubDomains");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("a stream of events behind the wall", () => {
  type Now = Awaited<ReturnType<Authenticator["authenticate"]>>;
  const olga: Now = { kind: "caller", caller: CALLERS["olga"]! };

  /** `now` is what the authenticator says from then on. */
  async function listening() {
    let now = olga;
    const streams = makeEventStreams({ recheckMs: 2, heartbeatMs: 4 });
    server = await serve((app) => {
      app.use(callers({ authenticator: { authenticate: () => Promise.resolve(now) } }));
      app.get("/events", (request, response) => void streams.open(request, response));
    });
    const events = readEvents(await fetch(`${server.url}/events`, { headers: { authorization: "Bearer olga" } }));
    await events.next();
    return { events, streams, becomes: (next: Now) => (now = next) };
  }

  it.each<[string, Now]>([
    ["the token is revoked or has expired", { kind: "refused", why: "unknown" }],
    ["the caller may less than before", { kind: "caller", caller: { ...CALLERS["olga"]!, role: "viewer" } }],
    ["the caller sees fewer collections", { kind: "caller", caller: { ...CALLERS["olga"]!, scope: ["one"] } }],
  ])("ends when %s", async (_why, next) => {
    const { events, streams, becomes } = await listening();
    expect(await events.next()).toEqual({ comment: "still here" });
    becomes(next);
    let last = await events.next();
    while (last !== null) last = await events.next();
    expect(streams.count).toBe(0);
  });

  it("goes on while nobody can be asked about its caller", async () => {
    const { events, streams, becomes } = await listening();
    becomes({ kind: "silence" });
    for (let beats = 0; beats < 5; beats++) expect(await events.next()).toEqual({ comment: "still here" });
    expect(streams.count).toBe(1);
    await events.cancel();
  });
});
