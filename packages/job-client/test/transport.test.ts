/** Several job-apis, some of which are away or answer nothing. */
import { afterEach, describe, expect, test } from "@jest/globals";
import { freePort } from "@sluice/local-parts";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type JobClient, openJobs } from "../src/index.ts";

const servers: Server[] = [];
const clients: JobClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};
const cutOff = (request: IncomingMessage): void => void request.socket.destroy();
const nobody = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;
const created = (response: ServerResponse): void => json(response, 200, { jobID: 7 });
const problem = (response: ServerResponse, status: number, detail: string, headers = {}): void =>
  json(response, status, { status, code: "X", title: "x", detail }, headers);

function client(...urls: [string, ...string[]]): JobClient {
  const made = openJobs({ urls, token: "secret", tenant: "acme" });
  clients.push(made);
  return made;
}

describe("with several addresses", () => {
  test("one where nobody listens is passed over, and not asked first again", async () => {
    const asked: string[] = [];
    const there = await serve((request, response) => {
      asked.push(`${request.method ?? ""} ${request.url ?? ""} ${request.headers.authorization ?? ""}`);
      created(response);
    });
    const jobs = client(await nobody(), there);
    expect(await jobs.createJob({ name: "foo" })).toEqual({ ok: true, status: 200, value: 7 });
    expect(asked).toEqual(["POST /v1/tenants/acme/commands/CreateJob Bearer secret"]);
  });

  test("a write that was cut off is not sent to another: nobody knows", async () => {
    let asked = 0;
    const jobs = client(
      await serve((request) => cutOff(request)),
      await serve((_, response) => {
        asked++;
        created(response);
      }),
    );
    expect(await jobs.createJob({ name: "foo" })).toMatchObject({ ok: false, kind: "unknown" });
    expect(asked).toBe(0);
  });

  test("what may be asked twice is", async () => {
    const urls: [string, string] = [
      await serve((request) => cutOff(request)),
      await serve((request, response) =>
        json(response, 200, request.url?.endsWith("/renew") === true ? { lost: [3] } : {}),
      ),
    ];
    const jobs = client(...urls);
    expect(await jobs.renew([{ tenant: "acme", jobID: 3, lease: "1.1" }])).toMatchObject({ ok: true, value: [3] });
    expect((await client(...urls).list()).ok).toBe(true);
    expect((await client(...urls).finish(7, { lease: "1.1" })).ok).toBe(true);
    expect(await client(...urls).finish(7)).toMatchObject({ ok: false, kind: "unknown" });
  });

  test("an end that was cut off and is then refused may have been done", async () => {
    const jobs = client(
      await serve((request) => cutOff(request)),
      await serve((_, response) => problem(response, 409, "Can only retry/finish RUNNING and RUNQUEUED jobs")),
    );
    const ended = await jobs.retry(7, { lease: "1.1" });
    expect(ended).toMatchObject({ ok: false, kind: "unknown" });
    expect(ended).toHaveProperty("why", expect.stringMatching(/; asked again: 409 Can only retry/));
  });

  test("a job-api that does not know is believed; one that cannot serve is passed over", async () => {
    const unknown = { "job-status": "503 Not known whether this was done" };
    const doubtful = await serve((_, response) => problem(response, 503, "Not known whether this was done", unknown));
    expect(await client(doubtful).createJob({ name: "foo" })).toMatchObject({ ok: false, kind: "unknown" });
    const full = await serve((_, response) => problem(response, 503, "Too many jobs"));
    const there = await serve((_, response) => created(response));
    expect(await client(full, there).createJob({ name: "foo" })).toMatchObject({ ok: true, value: 7 });
    expect(await client(full).createJob({ name: "foo" })).toMatchObject({ kind: "refused", refusal: { status: 503 } });
  });

  test("nobody anywhere: nothing was done, and it is said so", async () => {
    expect(await client(await nobody(), await nobody()).createJob({ name: "foo" })).toMatchObject({
      ok: false,
      kind: "unreachable",
    });
  });
});
