/** A real intake with AUTH=on: tokens of its file and of the tree, with and without ZooKeeper; no secret in its log. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "@jest/globals";
import { makeClient } from "@sluice/client";
import { freePort, startChild } from "@sluice/local-parts";
import { keepToken, revokeToken } from "@sluice/queue-core";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import { INTAKE } from "@sluice/wire";
import { aToken, tokensFile } from "./access-support.ts";
import { makeSite, untilListening } from "./fleet-support.ts";
import { formOf } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const ADMIN = { name: "root", reason: "a test" };
const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const ofFile = aToken("depositor", ["demo_content"], "Dora");
const GOOD = { profile: "demo_content", payload_url: "https://content.example/a.txt" };

async function startProcess(more: Readonly<Record<string, string>>) {
  const zookeeper = await testZooKeeper();
  const site = await makeSite(cleanups, zookeeper, (_request, response) => response.end());
  const { env, url } = await site.settings({
    AUTH: "on",
    AUTH_TOKENS_FILE: await tokensFile(cleanups, [ofFile]),
    LOG_LEVEL: "trace",
    ...more,
  });
  const logFile = join(site.root, `${randomUUID()}.log`);
  const child = await startChild({
    command: process.execPath,
    args: ["dist/programs/batch-intake.js"],
    cwd: ROOT,
    env: { PATH: process.env["PATH"], ...env },
    logFile,
  });
  cleanups.add(() => child.kill("SIGKILL"));
  await untilListening(url);
  const statusOf = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await fetch(`${url}/v1/batches`, { headers })).status;
  return { site, url, statusOf, client: (token: string) => makeClient({ baseUrl: url, token }), logFile };
}

test("a token of the tree works, and is refused seconds after it was revoked; no log line has a secret", async () => {
  const { site, url, statusOf, client, logFile } = await startProcess({});
  const { ctx } = site.operator;
  const ofTree = aToken("depositor", ["demo_content"], "Tina");
  await waitFor(async () => (await statusOf(ofFile.headers)) === 200, { what: "an intake that sees the queue" });
  expect(await keepToken(ctx, ADMIN, ofTree.record)).toEqual({ kind: "applied" });
  expect(await statusOf(ofTree.headers)).toBe(200);
  const sent = await client(ofTree.token).call(INTAKE.submitBatch, { body: GOOD, idempotencyKey: "k1" });
  expect(sent).toMatchObject({ ok: true, value: { bid: expect.stringMatching(/^bid\d{10}$/) } });
  const basic = Buffer.from(`merritt:${ofTree.token}`).toString("base64");
  const form = formOf({ profile: "demo_content" });
  const headers = { authorization: `Basic ${basic}` };
  expect((await fetch(`${url}/poster/submit`, { method: "POST", headers, body: form })).status).toBe(200);

  expect(await revokeToken(ctx, ADMIN, ofTree.record.id)).toEqual({ kind: "applied" });
  await waitFor(async () => (await statusOf(ofTree.headers)) === 401, { what: "the revoked token refused" });

  const log = await waitFor(async () => {
    const text = await readFile(logFile, "utf8");
    return text.includes("credentials were not accepted") && text;
  });
  for (const { token } of [ofFile, ofTree]) {
    const secret = token.split("_").slice(2).join("_");
    for (const hidden of [secret, Buffer.from(secret).toString("base64"), basic]) expect(log).not.toContain(hidden);
  }
});

test("while ZooKeeper is away the tokens of the file let submissions into the journal, and others must wait", async () => {
  const { client, statusOf } = await startProcess({ ZOOKEEPER_CONNECT: `127.0.0.1:${await freePort()}` });
  const mine = client(ofFile.token);
  const sent = await mine.call(INTAKE.submitBatch, { body: GOOD });
  expect(sent).toMatchObject({ ok: true, status: 202, value: { bid: null } });
  const id = sent.ok ? sent.value.id : "";
  const seen = await mine.call(INTAKE.getBatch, { params: { id } });
  expect(seen).toMatchObject({ ok: true, value: { status: "Accepted", submitter: "Dora" } });
  // Whether it is a token of the tree nobody can tell just now: that is no refusal.
  expect(await statusOf(aToken("admin").headers)).toBe(503);
  expect(await statusOf({})).toBe(401);
});
