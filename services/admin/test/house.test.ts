/** Tokens, audit, nodes, fsck, snapshots, mails, logs; logging in; limits. */
import { parseToken } from "@sluice/access";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { batchFolder } from "@sluice/queue-core";
import { aBatchOfJobs, type ABatchOfJobs, type TestWorker, testWorker, testZooKeeper } from "@sluice/testkit";
import { ADMIN } from "@sluice/wire";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { refusalOf, startAdmin, type TestAdmin, valueOf } from "./support.ts";

let dir: string;
let admin: TestAdmin;
let intake: TestWorker;
let made: ABatchOfJobs;

const MAIL = (batch: string): string =>
  [
    "From: Sluice <sluice@localhost>",
    "To: jo@example.org",
    "Subject: =?UTF-8?Q?Ingest:_OK_=E2=80=94_done?=",
    "Date: Mon, 16 Nov 2026 08:11:36 +0000",
    'Content-Type: multipart/mixed; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    `All of ${batch} =C2=B7 ingested.`,
    "--b",
    'Content-Disposition: attachment; filename="failed.json"',
    "Content-Type: application/json",
    "",
    "{}",
    "--b--",
    "",
  ].join("\r\n");

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "sluice-house-"));
  for (const folder of ["outbox", "logs", "console/assets"]) await mkdir(join(dir, folder), { recursive: true });
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  made = await aBatchOfJobs(intake, 2);
  await writeFile(
    join(dir, "outbox", `${batchFolder({ batchId: made.batch, batchEpoch: intake.identity.epoch })}.1.eml`),
    MAIL(made.batch),
  );
  const line = {
    level: "warn",
    time: "2026-11-16T08:00:00.000Z",
    service: "downloader",
    job: made.jobs[0],
    msg: "slow",
  };
  const url = "https://store.example/x?signature=SECRET";
  await writeFile(join(dir, "logs", "downloader.log"), `no JSON\n${JSON.stringify({ ...line, url })}\n`);
  await writeFile(join(dir, "console", "index.html"), "<!doctype html><title>Sluice</title>");
  await writeFile(join(dir, "console", "assets", "app-3fa9c2d1.js"), "export {};");
  admin = await startAdmin(connect, {
    env: { MAIL_OUTBOX_DIR: join(dir, "outbox"), LOGS_DIR: join(dir, "logs") },
    outside: { consoleDir: join(dir, "console") },
  });
});
afterAll(async () => {
  await admin.stop();
  await intake.close();
  await rm(dir, { recursive: true, force: true });
});

describe("tokens", () => {
  test("are made, used, listed without their secret, and revoked; all of it is in the audit", async () => {
    const root = admin.as("admin");
    const body = { name: "Vera", role: "viewer" as const, collections: ["*"], reason: "a new colleague" };
    const token = valueOf(await root.call(ADMIN.makeToken, { body }));
    expect(valueOf(await admin.withToken(token.token).call(ADMIN.me, {}))).toMatchObject({
      name: "Vera",
      role: "viewer",
    });
    const { items } = valueOf(await root.call(ADMIN.tokens, {}));
    expect(items).toMatchObject([{ id: token.id, name: "Vera", created_by: "admin", expired: false }]);
    expect(JSON.stringify(items)).not.toContain(token.token);
    const params = { id: token.id };
    valueOf(await root.call(ADMIN.revokeToken, { params, query: { reason: "she left" } }));
    expect(refusalOf(await root.call(ADMIN.revokeToken, { params, query: { reason: "again" } })).status).toBe(404);
    const audit = valueOf(await root.call(ADMIN.audit, { query: { target: token.id } }));
    expect(audit.items.map(({ action }) => action)).toEqual(["token.revoke", "token.make viewer for Vera"]);
    const caller = `token:${parseToken(admin.tokens.admin)!.id}`;
    expect(audit.items.map((each) => [each.actor, each.caller])).toEqual([
      ["admin", caller],
      ["admin", caller],
    ]);
    const byId = valueOf(await root.call(ADMIN.audit, { query: { actor: caller } }));
    expect(byId.items.slice(0, 2)).toEqual(audit.items);
    const pages = valueOf(await root.call(ADMIN.audit, { query: { limit: 1 } }));
    expect(pages.next_cursor).not.toBeNull();
  });

  test("are made for all collections only where that is asked for", async () => {
    const root = admin.as("admin");
    const body = { name: "Bob", role: "depositor", reason: "a new depositor" } as const;
    for (const collections of [undefined, []]) {
      const asked = { ...body, collections } as unknown as { collections: string[] } & typeof body;
      const refused = refusalOf(await root.call(ADMIN.makeToken, { body: asked }));
      expect(refused.status).toBe(400);
      expect(JSON.stringify(refused)).toContain("`*` for all of them");
    }
    const queueAlone = { ...body, collections: [], tenants: ["acme"] };
    expect(valueOf(await root.call(ADMIN.makeToken, { body: queueAlone }))).toMatchObject({ collections: [] });
  });

  test("that are revoked hear no more: their streams end, and coming back is refused", async () => {
    const root = admin.as("admin");
    const body = { name: "Lena", role: "viewer" as const, collections: ["*"], reason: "listens for a while" };
    const { id, token } = valueOf(await root.call(ADMIN.makeToken, { body }));
    const headers = { authorization: `Bearer ${token}` };
    const stream = await fetch(`${admin.url}/v1/batches/${made.batch}/events`, { headers });
    expect(stream.status).toBe(200);
    valueOf(await root.call(ADMIN.revokeToken, { params: { id }, query: { reason: "heard enough" } }));
    expect(await stream.text()).toContain(made.batch);
    expect(refusalOf(await admin.withToken(token).call(ADMIN.me, {})).status).toBe(401);
  });
});

describe("the tree", () => {
  test("is browsed, without tokens' hashes", async () => {
    const olga = admin.as("operator");
    const node = valueOf(await olga.call(ADMIN.node, { query: { path: `/jobs/${made.jobs[0]!}/priority` } }));
    expect(node).toMatchObject({ encoding: "text", data: "5", children_count: 0, ephemeral: false });
    const top = valueOf(await olga.call(ADMIN.node, { query: { path: "/jobs", limit: 1 } }));
    expect(top.children).toEqual([made.jobs[0]]);
    const rest = valueOf(await olga.call(ADMIN.node, { query: { path: "/jobs", cursor: top.next_cursor! } }));
    expect(rest.children).toEqual([made.jobs[1], "states"]);
    expect(refusalOf(await olga.call(ADMIN.node, { query: { path: "/none" } })).status).toBe(404);
  });

  test("is checked, and mended by admins with a reason", async () => {
    const root = admin.as("admin");
    const whole = valueOf(await root.call(ADMIN.fsck, {}));
    expect(whole).toMatchObject({ jobs: 2, batches: 1, findings: [] });
    const entry = `/jobs/states/failed/05-${made.jobs[1]!}`;
    await intake.session.multi([{ op: "create", path: entry, data: Buffer.alloc(0) }]);
    const { findings } = valueOf(await root.call(ADMIN.fsck, {}));
    expect(findings.length).toBeGreaterThan(0);
    const body = { reason: "a ghost", findings: findings.map(({ id }) => id) };
    const report = valueOf(await root.call(ADMIN.repair, { body }));
    expect(report.repaired.length).toBeGreaterThan(0);
    expect(valueOf(await root.call(ADMIN.fsck, {})).findings).toEqual([]);
  });

  test("is taken into a file, which the audit knows", async () => {
    const olga = admin.as("operator");
    const file = valueOf(await olga.download(ADMIN.snapshot, {}));
    expect(file.headers.get("content-disposition")).toMatch(/attachment; filename="sluice-tree-/);
    const text = gunzipSync(Buffer.from(await file.arrayBuffer())).toString("utf8");
    expect(JSON.parse(text.split("\n")[0]!)).toMatchObject({ sluice: "tree-snapshot", fleet: intake.identity.history });
    const { items } = valueOf(await olga.call(ADMIN.audit, { query: { limit: 1 } }));
    expect(items[0]).toMatchObject({ action: "snapshot.take", actor: "operator" });
  });
});

test("mails of the outbox are shown, whole and by batch", async () => {
  const { items } = valueOf(await admin.as("viewer").call(ADMIN.mails, {}));
  expect(items).toEqual([
    {
      id: `${batchFolder({ batchId: made.batch, batchEpoch: intake.identity.epoch })}.1`,
      subject: "Ingest: OK — done",
      to: ["jo@example.org"],
      at: "2026-11-16T08:11:36.000Z",
      text: expect.stringContaining(`All of ${made.batch} · ingested.`),
      attachments: [{ name: "failed.json", bytes: expect.any(Number) }],
    },
  ]);
  const params = { id: made.batch };
  expect(valueOf(await admin.as("depositor").call(ADMIN.batchMails, { params })).items).toEqual(items);
});

test("what was logged about a job is shown without secrets", async () => {
  const { items } = valueOf(await admin.as("viewer").call(ADMIN.jobLogs, { params: { id: made.jobs[0]! } }));
  expect(items).toMatchObject([
    { level: "warn", service: "downloader", message: expect.stringMatching(/^slow {2}job=jid\d+ {2}url=https/) },
  ]);
  expect(JSON.stringify(items)).not.toContain("SECRET");
});

describe("a browser", () => {
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${admin.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  test("is told that a token is wrong, and not logged in by pages of other sites", async () => {
    expect((await post("/login", { token: "slc_wrong" })).status).toBe(401);
    expect((await post("/login", { token: admin.tokens.viewer }, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  });

  test("gets the console packed, kept by hashed names, under a strict policy, at every address of its own", async () => {
    const index = await fetch(`${admin.url}/jobs/jid0000000001`, { headers: { accept: "text/html" } });
    expect(await index.text()).toContain("<title>Sluice</title>");
    expect(index.headers.get("cache-control")).toBe("no-cache");
    expect(index.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(index.headers.get("content-encoding")).toMatch(/br|gzip/);
    const script = await fetch(`${admin.url}/assets/app-3fa9c2d1.js`);
    expect(script.headers.get("cache-control")).toContain("immutable");
    expect((await fetch(`${admin.url}/assets/none.js`)).status).toBe(404);
    expect((await fetch(`${admin.url}/v1/me`, { headers: { accept: "text/html" } })).status).toBe(401);
  });
});

test("who asks too often is told to wait", async () => {
  const { connect } = await testZooKeeper();
  const slow = await startAdmin(connect, { env: { CALLS_PER_MINUTE: "2" } });
  const viewer = slow.as("viewer");
  await viewer.call(ADMIN.me, {});
  await viewer.call(ADMIN.me, {});
  const refusal = refusalOf(await viewer.call(ADMIN.me, {}));
  expect(refusal).toMatchObject({ status: 429, code: "TOO_MANY_REQUESTS" });
  expect(refusal.retryAfterSeconds).toBeGreaterThan(0);
  await slow.stop();
});

test("a production start without authentication refuses to serve", async () => {
  const main = fileURLToPath(new URL("../../../dist/programs/admin.js", import.meta.url));
  const env = { PATH: process.env["PATH"], ZOOKEEPER_CONNECT: "127.0.0.1:1", NODE_ENV: "production" };
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "ignore", "pipe"] });
  const said: string[] = [];
  child.stderr.on("data", (data: Buffer) => said.push(data.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(78);
  expect(said.join("")).toContain("AUTH: must be on in production");
});
