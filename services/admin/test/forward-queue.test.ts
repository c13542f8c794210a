import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { startAdmin, type TestAdmin } from "./support.ts";

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let queue: Server;
let asked: Asked[] = [];
let answer: (response: ServerResponse) => void;
let admin: TestAdmin;

const bearer = (): Record<string, string> => ({ authorization: `Bearer ${admin.tokens.operator}` });

describe("what is asked under /v1/queue/", () => {
  beforeAll(async () => {
    queue = createServer((request, response) => {
      void text(request).then(
        (body) => {
          asked.push({ method: request.method!, url: request.url!, headers: request.headers, body });
          answer(response);
        },
        () => response.destroy(),
      );
    });
    queue.listen(0, "127.0.0.1");
    await once(queue, "listening");
    const { port } = queue.address() as AddressInfo;
    admin = await startAdmin((await testZooKeeper()).connect, { env: { JOB_API_URL: `http://127.0.0.1:${port}` } });
  });
  afterEach(() => {
    asked = [];
  });
  afterAll(async () => {
    await admin.stop();
    queue.closeAllConnections();
    queue.close();
  });

  test("is passed on with the caller's own token, and the answer passed back", async () => {
    answer = (response) =>
      response
        .writeHead(200, { "content-type": "application/json", "job-status": "200 OK", "set-cookie": "theirs=1" })
        .end('{"jobID":1}');
    const response = await fetch(`${admin.url}/v1/queue/tenants/t1/commands/CreateJob?x=1`, {
      method: "POST",
      headers: { ...bearer(), "content-type": "application/json", cookie: "other=2" },
      body: '{"name":"a"}',
    });
    expect([response.status, await response.text()]).toEqual([200, '{"jobID":1}']);
    expect(response.headers.get("job-status")).toBe("200 OK");
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      method: "POST",
      url: "/v1/tenants/t1/commands/CreateJob?x=1",
      body: '{"name":"a"}',
      headers: { ...bearer(), "content-type": "application/json" },
    });
    expect(asked[0]!.headers.cookie).toBeUndefined();
  });

  test("goes out with the token of the browser's session, if only that is there", async () => {
    const login = await fetch(`${admin.url}/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: admin.tokens.viewer }),
    });
    const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
    answer = (response) => response.writeHead(200, { link: '</v1/tenants?cursor=2>; rel="next"' }).end("[]");
    const response = await fetch(`${admin.url}/v1/queue/tenants`, {
      headers: { cookie },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("link")).toBe('</v1/queue/tenants?cursor=2>; rel="next"');
    expect(asked[0]!.headers.authorization).toBe(`Bearer ${admin.tokens.viewer}`);
  });

  test("is refused here already where nobody has shown who they are, or where another site asks in their name", async () => {
    const nobody = await fetch(`${admin.url}/v1/queue/tenants`);
    const foreign = await fetch(`${admin.url}/v1/queue/tenants/t/commands/DeleteJob`, {
      method: "POST",
      headers: { cookie: `sluice=${admin.tokens.admin}`, "sec-fetch-site": "cross-site" },
    });
    expect([nobody.status, foreign.status, asked]).toEqual([401, 403, []]);
  });

  test("brings back refusals as they are", async () => {
    const problem = { type: "/problems/conflict", title: "t", status: 409, detail: "lost", code: "CONFLICT" };
    answer = (response) =>
      response.writeHead(409, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
    const response = await fetch(`${admin.url}/v1/queue/x`, { method: "DELETE", headers: bearer() });
    expect(response.status).toBe(409);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
    expect(await response.json()).toEqual(problem);
    expect(asked[0]!.method).toBe("DELETE");
  });

  test("cannot leave /v1/ there", async () => {
    answer = (response) => response.writeHead(404).end();
    await fetch(`${admin.url}/v1/queue/%2e%2e/%2e%2e/metrics`, { headers: bearer() });
    expect(asked.map(({ url }) => url).every((url) => url.startsWith("/v1/"))).toBe(true);
  });

  test("is not passed on without end", async () => {
    answer = (response) => response.writeHead(200).end();
    const response = await fetch(`${admin.url}/v1/queue/tenants/t/commands/CreateJobs`, {
      method: "POST",
      headers: { ...bearer(), "content-type": "application/json" },
      body: Buffer.alloc(9_000_000, 32),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
    expect(asked).toEqual([]);
  });

  test("ends there when the caller has gone", async () => {
    const gone = new AbortController();
    let closed = false;
    answer = (response) => {
      response.on("close", () => (closed = true));
      gone.abort();
    };
    await expect(fetch(`${admin.url}/v1/queue/slow`, { headers: bearer(), signal: gone.signal })).rejects.toThrow();
    await waitFor(() => closed);
  });

  test("is answered with 503 when nobody is there, and while none is configured with what to set", async () => {
    answer = (response) => response.destroy();
    const away = await fetch(`${admin.url}/v1/queue/tenants`, { headers: bearer() });
    expect([away.status, away.headers.get("retry-after")]).toEqual([503, "5"]);
    const without = await startAdmin((await testZooKeeper()).connect);
    try {
      const response = await fetch(`${without.url}/v1/queue/tenants`, {
        headers: { authorization: `Bearer ${without.tokens.viewer}` },
      });
      expect(response.status).toBe(503);
      expect(((await response.json()) as { detail: string }).detail).toContain("JOB_API_URL");
    } finally {
      await without.stop();
    }
  });
});
