/** Who may submit, and to what; who sees what waits in the journal. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { PERMISSIONS } from "@sluice/access";
import { makeClient } from "@sluice/client";
import { batchUuidFromKey } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import { INTAKE } from "@sluice/wire";
import { INCOMING } from "../src/files/incoming.ts";
import { intakeOperations } from "../src/http/api.ts";
import { aToken, wallFor } from "./access-support.ts";
import { formOf, problemOf, startApp } from "./http-support.ts";
import { listenTo } from "./reading-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const depositor = aToken("depositor", ["demo_content"], "Dora");
const stranger = aToken("depositor", ["other_content"], "Otto");
const viewer = aToken("viewer");
const operator = aToken("operator");

async function guarded(more: { readonly callsPerMinute?: number } = {}) {
  const wall = await wallFor(cleanups, [depositor, stranger, viewer, operator]);
  return startApp(cleanups, 1_000_000, 100, { ...wall, ...more });
}
type App = Awaited<ReturnType<typeof guarded>>;

const GOOD = { profile: "demo_content", payload_url: "https://content.example/a.txt" };

/** Each way to submit to a profile. */
const WAYS: readonly (readonly [
  string,
  (app: App, headers: Record<string, string>, profile: string) => Promise<Response>,
])[] = [
  ["JSON", (app, headers, profile) => app.postJson({ ...GOOD, profile }, headers)],
  [
    "objects",
    (app, headers, profile) =>
      app.postJson({ profile, type: "file", objects: [{ url: "https://content.example/a.txt" }] }, headers),
  ],
  [
    "a form",
    (app, headers, profile) => fetch(`${app.base}/v1/batches`, { method: "POST", headers, body: formOf({ profile }) }),
  ],
  ["Merritt's form", (app, headers, profile) => app.postForm(formOf({ profile }), headers)],
  [
    "Merritt's form about an object",
    (app, headers, profile) =>
      fetch(`${app.base}/poster/update/ark:/99999/fk4abc`, { method: "POST", headers, body: formOf({ profile }) }),
  ],
];

describe("every operation", () => {
  const pathOf = (path: string): string =>
    path.replace("/jobs/{id}", "/jobs/jid0000000404").replace("{id}", "bid0000000404").replaceAll(/[{}]/g, "");

  test("refuses who does not say who they are, and says how to", async () => {
    const app = await guarded();
    const operations = intakeOperations(app.deps);
    expect(operations.length).toBeGreaterThan(12);
    for (const { spec } of operations) {
      const answer = await fetch(app.base + pathOf(spec.path), { method: spec.method.toUpperCase() });
      expect([spec.id, answer.status, answer.headers.get("www-authenticate")]).toEqual([
        spec.id,
        401,
        'Bearer realm="sluice"',
      ]);
      expect((await problemOf(answer)).code).toBe("UNAUTHENTICATED");
    }
  });

  test("lets a viewer look and not submit", async () => {
    const app = await guarded();
    for (const { spec } of intakeOperations(app.deps)) {
      const answer = await fetch(app.base + pathOf(spec.path), {
        method: spec.method.toUpperCase(),
        headers: viewer.headers,
      });
      const { roles } = PERMISSIONS[spec.permission ?? "see-deposits"];
      const isLetIn = (roles as readonly string[]).includes("viewer");
      expect([spec.id, answer.status === 403]).toEqual([spec.id, !isLetIn]);
      if (spec.method !== "get") expect([spec.id, isLetIn]).toEqual([spec.id, false]);
    }
  });

  test("is described as one that needs a token; the description itself needs none", async () => {
    const { base } = await guarded();
    expect((await fetch(`${base}/docs`)).status).toBe(200);
    const document = (await (await fetch(`${base}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { security?: unknown; responses: object }>>;
    };
    for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      expect(operation.security).toEqual([{ bearer: [] }]);
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["401", "403", "429"]));
    }
  });
});

describe.each(WAYS)("a submission by %s", (_way, submit) => {
  test("goes to the depositor's own collections only, and the answer names the other one", async () => {
    const app = await guarded();
    expect((await submit(app, depositor.headers, "demo_content")).status).toBeLessThan(300);
    for (const profile of ["demo_content", "no_such_content"]) {
      const refused = await submit(app, stranger.headers, profile);
      expect([refused.status, await problemOf(refused)]).toMatchObject([
        403,
        { code: "FORBIDDEN", detail: `you may not submit to ${profile}` },
      ]);
    }
    expect(app.queue.created.size).toBe(1);
  });

  test("records who sent it, beside whoever it names as submitter", async () => {
    const app = await guarded();
    await submit(app, depositor.headers, "demo_content");
    const [made] = [...app.queue.created.values()];
    expect(made?.submission).toMatchObject({ submitter: "Dora", submitted_by: "Dora" });
  });

  test("is not taken from a token that nobody knows", async () => {
    const app = await guarded();
    const unknown = aToken("depositor", ["demo_content"]);
    expect((await submit(app, unknown.headers, "demo_content")).status).toBe(401);
    expect(app.queue.created.size).toBe(0);
  });
});

describe.each([
  ["a form", "/v1/batches"],
  ["Merritt's form", "/poster/submit"],
])("%s for somebody else's collection", (_form, path) => {
  /** The beginning of a form whose file never ends. */
  const endlessForm = (profile: string): ReadableStream => {
    const lines = [
      "--b",
      'Content-Disposition: form-data; name="profile"',
      "",
      profile,
      "--b",
      'Content-Disposition: form-data; name="file"; filename="a.bin"',
      "",
      "the first bytes",
    ];
    return new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(lines.join("\r\n"))) });
  };

  test("is refused before its file is read, and nothing of it is kept", async () => {
    const app = await guarded();
    const refused = await fetch(app.base + path, {
      method: "POST",
      headers: { ...stranger.headers, "content-type": "multipart/form-data; boundary=b" },
      body: endlessForm("demo_content"),
      duplex: "half",
    });
    expect([refused.status, await problemOf(refused)]).toMatchObject([
      403,
      { code: "FORBIDDEN", detail: "you may not submit to demo_content" },
    ]);
    await waitFor(async () => (await readdir(join(app.root, INCOMING))).length === 0);
  });

  test("is refused after its file when it names it there, and nothing of it is kept", async () => {
    const app = await guarded();
    const form = new FormData();
    form.set("file", new Blob(["hello"]), "a.txt");
    form.set("profile", "demo_content");
    const refused = await fetch(app.base + path, { method: "POST", headers: stranger.headers, body: form });
    expect(refused.status).toBe(403);
    await waitFor(async () => (await readdir(join(app.root, INCOMING))).length === 0);
  });
});

test("a report goes to whoever sent the submission, if their name is an address, and to nobody else of their choice", async () => {
  const named = aToken("depositor", ["demo_content"], "dora@home.example");
  const app = await startApp(cleanups, 1_000_000, 100, await wallFor(cleanups, [named, depositor]));
  const post = async (notification: string, { headers }: typeof named): Promise<number> =>
    (await app.postJson({ ...GOOD, submitter: notification, notification }, headers)).status;
  expect(await post("dora@home.example", depositor)).toBe(400);
  expect(await post("eve@home.example", named)).toBe(400);
  expect(app.queue.created.size).toBe(0);
  expect(await post("dora@home.example", named)).toBe(202);
});

test("a named submitter stays, and whoever sent it is written down besides", async () => {
  const app = await guarded();
  await app.postJson({ ...GOOD, submitter: "the lab" }, depositor.headers);
  await app.postForm(formOf({ profile: "demo_content", submitter: "the lab" }), depositor.headers);
  for (const { submission } of app.queue.created.values())
    expect(submission).toMatchObject({ submitter: "the lab", submitted_by: "Dora" });
});

test("an idempotency key is its caller's own", async () => {
  const app = await guarded();
  const key = { "idempotency-key": "k1" };
  for (const { headers } of [depositor, operator, depositor])
    expect((await app.postJson(GOOD, { ...headers, ...key })).status).toBe(202);
  const uuids = [depositor, operator].map(({ record }) => batchUuidFromKey(`token:${record.id}`, "k1"));
  expect([...app.queue.created.keys()]).toEqual(uuids);
});

test("the token may come as the password of Basic authentication, for Merritt's clients", async () => {
  const app = await guarded();
  const basic = (user: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
  });
  const form = (): FormData => formOf({ profile: "demo_content" });
  expect((await app.postForm(form(), basic("merritt", depositor.token))).status).toBe(200);
  expect((await app.postForm(form(), basic("merritt", "a password"))).status).toBe(401);
  expect((await app.postForm(form(), basic(depositor.token, ""))).status).toBe(401);
});

test("whoever asks too often is told when to come back, and others are not", async () => {
  const app = await guarded({ callsPerMinute: 3 });
  const ask = (headers: Record<string, string>): Promise<Response> => fetch(`${app.base}/v1/batches`, { headers });
  const statuses = [];
  for (let i = 0; i < 4; i++) statuses.push((await ask(depositor.headers)).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  const refused = await ask(depositor.headers);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await problemOf(refused)).code).toBe("TOO_MANY_REQUESTS");
  expect((await ask(viewer.headers)).status).toBe(200);
});

test("whoever guesses tokens is slowed down", async () => {
  const app = await guarded();
  const guess = (): Promise<Response> => fetch(`${app.base}/v1/batches`, { headers: aToken("admin").headers });
  let last = await guess();
  for (let i = 0; i < 60 && last.status === 401; i++) last = await guess();
  expect(last.status).toBe(429);
});

describe("while ZooKeeper is away", () => {
  async function away() {
    const app = await guarded();
    app.queue.mood = "away";
    const client = (token: string) => makeClient({ baseUrl: app.base, token });
    const mine = client(depositor.token);
    const sent = await mine.call(INTAKE.submitBatch, { body: GOOD });
    if (!sent.ok) throw new Error(JSON.stringify(sent));
    return { app, client, mine, id: sent.value.id };
  }

  test("tokens of the file are taken, and what was sent is seen by those whose collection it is", async () => {
    const { client, mine, id } = await away();
    for (const token of [depositor.token, viewer.token]) {
      const seen = await client(token).call(INTAKE.getBatch, { params: { id } });
      expect(seen).toMatchObject({ ok: true, value: { id, bid: null, status: "Accepted", submitter: "Dora" } });
    }
    expect(await mine.call(INTAKE.listJobs, { params: { id } })).toMatchObject({ ok: true, value: { items: [] } });
    for (const endpoint of [INTAKE.getBatch, INTAKE.listJobs]) {
      const hidden = await client(stranger.token).call(endpoint, { params: { id } });
      expect(hidden).toMatchObject({ ok: false, refusal: { status: 404, code: "NOT_FOUND" } });
    }
  });

  test("whoever listens hears that it is accepted", async () => {
    const { app, id } = await away();
    for (const path of [`/v1/batches/${id}/events`, `/v1/batches/${id}`]) {
      const hidden = await listenTo(app.base + path, { accept: "text/event-stream", ...stranger.headers });
      expect(hidden.status).toBe(404);
      const { status, next, close } = await listenTo(app.base + path, {
        accept: "text/event-stream",
        ...depositor.headers,
      });
      expect(status).toBe(200);
      expect(await next()).toMatchObject({ event: "batch", id: "accepted", data: { bid: null, status: "Accepted" } });
      close();
    }
  });

  test("a refusal is for those whose submission it was", async () => {
    const { app, id } = await away();
    const refusals = app.deps.backlog.refusals.bind(app.deps.backlog);
    const submission = { ...GOOD, profile_name: "demo_content" };
    const refusal = {
      uuid: id,
      number: 1,
      refused_at: "2026-01-02 03:04:05 +0000",
      why: "gone",
      submission,
      files: null,
    };
    app.deps.backlog.refusals = (uuid) => (uuid === id ? [refusal] : refusals(uuid));
    const ask = async (headers: Record<string, string>): Promise<unknown> =>
      (await fetch(`${app.base}/v1/batches/${id}/refusals`, { headers })).json();
    expect(await ask(stranger.headers)).toEqual({ refusals: [] });
    expect(await ask(depositor.headers)).toEqual({
      refusals: [{ id, why: "gone", refused_at: "2026-01-02T03:04:05.000Z" }],
    });
  });
});

test("a profile that its depositor may use is still checked for being there", async () => {
  const app = await guarded();
  expect((await app.postJson({ ...GOOD, profile: "other_content" }, stranger.headers)).status).toBe(400);
});
