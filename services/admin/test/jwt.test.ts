/** Somebody whom an identity provider knows: what the provider says of them is what they may. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { aBatchOfJobs, aJobSpec, aSubmission, type TestWorker, testWorker, testZooKeeper } from "@sluice/testkit";
import { ADMIN } from "@sluice/wire";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { COLLECTION, refusalOf, startAdmin, type TestAdmin, valueOf } from "./support.ts";

const ours = generateKeyPairSync("ec", { namedCurve: "P-256" });
const others = generateKeyPairSync("ec", { namedCurve: "P-256" });
const NOW = Math.floor(Date.now() / 1000);

let provider: Server;
let issuer: string;
let admin: TestAdmin;
let intake: TestWorker;

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function jwt(claims: object, key: KeyObject = ours.privateKey): string {
  const about = { iss: issuer, aud: "sluice", sub: "u1", iat: NOW, exp: NOW + 600 };
  const said = `${part({ alg: "ES256", kid: "k1" })}.${part({ ...about, ...claims })}`;
  const signature = sign("sha256", Buffer.from(said), { key, dsaEncoding: "ieee-p1363" });
  return `${said}.${signature.toString("base64url")}`;
}

beforeAll(async () => {
  const keys = { keys: [{ ...ours.publicKey.export({ format: "jwk" }), kid: "k1", alg: "ES256", use: "sig" }] };
  provider = createServer((request, response) => {
    const found = request.url === "/keys";
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(keys));
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  admin = await startAdmin(connect, { env: { OIDC_ISSUER: issuer, OIDC_JWKS_URL: `${issuer}/keys` } });
});
afterAll(async () => {
  await admin.stop();
  await intake.close();
  provider.close();
  provider.closeAllConnections();
});

test("an operator of the provider acts, and stands in the audit under their name", async () => {
  const olga = admin.withToken(jwt({ email: "olga@example.org", roles: ["operator"] }));
  expect(valueOf(await olga.call(ADMIN.me, {}))).toMatchObject({ name: "olga@example.org", role: "operator" });
  const { jobs } = await aBatchOfJobs(intake, [aJobSpec()]);
  const body = { action: "hold" as const, reason: "a question" };
  valueOf(await olga.call(ADMIN.jobAction, { params: { id: jobs[0]! }, body }));
  const { items } = valueOf(await admin.as("admin").call(ADMIN.audit, { query: { target: jobs[0]! } }));
  expect(items[0]).toMatchObject({ action: "job.hold", actor: "olga@example.org" });
});

test("a viewer changes nothing", async () => {
  const viewer = admin.withToken(jwt({ roles: ["viewer"] }));
  const body = { action: "hold" as const, reason: "a question" };
  expect(refusalOf(await viewer.call(ADMIN.queueAction, { body }))).toMatchObject({ status: 403 });
});

test("a depositor sees the collections that the provider names, and no others", async () => {
  const mine = await aBatchOfJobs(intake, [aJobSpec()]);
  const spec = aJobSpec();
  const other = { ...spec, configuration: { ...spec.configuration, profile_name: "other_content" } };
  const theirs = await aBatchOfJobs(intake, [other], aSubmission({ profile_name: "other_content" }));
  const ada = admin.withToken(jwt({ roles: ["depositor"], collections: [COLLECTION] }));
  expect(valueOf(await ada.call(ADMIN.batch, { params: { id: mine.batch } })).bid).toBe(mine.batch);
  expect(refusalOf(await ada.call(ADMIN.batch, { params: { id: theirs.batch } })).status).toBe(404);
});

test.each([
  ["expired", () => jwt({ roles: ["admin"], exp: NOW - 600 })],
  ["for another service", () => jwt({ roles: ["admin"], aud: "another" })],
  ["of another issuer", () => jwt({ roles: ["admin"], iss: "https://elsewhere.example" })],
  ["signed by another key", () => jwt({ roles: ["admin"] }, others.privateKey)],
])("a JWT that is %s opens nothing", async (_, made) => {
  expect(refusalOf(await admin.withToken(made()).call(ADMIN.me, {})).status).toBe(401);
});
