import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { auditProblem, type AuditRecord, keepToken, paths, records, revokeToken } from "@sluice/queue-core";
import { testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { makeTreeTokens, mintToken, type TokenRecord } from "../src/index.ts";

const ADMIN = { name: "root", reason: "a new colleague" };
let admin: TestWorker;
let nowMs = 0;

beforeEach(async () => {
  const { connect } = await testZooKeeper();
  admin = await testWorker(connect, "operator", { register: false });
  nowMs = 0;
});
afterEach(async () => admin.close());

const aToken = (role: TokenRecord["role"] = "viewer"): TokenRecord => {
  const { id, hash } = mintToken(randomBytes);
  const expires = "2030-01-01T00:00:00Z";
  return { id, name: "Vera", role, collections: ["*"], hash, created: "", created_by: "root", expires };
};
const source = (session: () => TestWorker["session"] | null) =>
  makeTreeTokens({ session, monotonicMs: () => nowMs, maxAgeMs: 1_000, staleMaxMs: 60_000 });

test("a token is found as soon as it is made, and is gone from the next look on after it was revoked", async () => {
  const tokens = source(() => admin.session);
  const token = aToken();
  expect(await tokens.find(token.id)).toBe("none");
  expect(await keepToken(admin.ctx, ADMIN, token)).toEqual({ kind: "applied" });
  nowMs += 1;
  expect(await tokens.find(token.id)).toEqual(token);
  expect(await revokeToken(admin.ctx, ADMIN, token.id)).toEqual({ kind: "applied" });
  expect(await tokens.find(token.id)).toEqual(token);
  nowMs += 1_000;
  expect(await tokens.find(token.id)).toBe("none");
  expect(await revokeToken(admin.ctx, ADMIN, token.id)).toEqual({ kind: "not-found" });
});

test("what is known stays in use while ZooKeeper is away; what never was known is no refusal", async () => {
  let session: TestWorker["session"] | null = null;
  const tokens = source(() => session);
  const token = aToken();
  await keepToken(admin.ctx, ADMIN, token);
  expect(await tokens.find(token.id)).toBe("silence");
  session = admin.session;
  expect(await tokens.find(token.id)).toEqual(token);
  session = null;
  nowMs += 60_000;
  expect(await tokens.find(token.id)).toEqual(token);
});

test("what was read too long ago is not in use any more: a token may have been revoked since", async () => {
  let session: TestWorker["session"] | null = admin.session;
  const tokens = source(() => session);
  const [kept, revoked] = [aToken(), aToken()];
  for (const token of [kept, revoked]) await keepToken(admin.ctx, ADMIN, token);
  expect(await tokens.find(revoked.id)).toEqual(revoked);
  session = null;
  await revokeToken(admin.ctx, ADMIN, revoked.id);
  nowMs += 60_001;
  expect(await tokens.find(revoked.id)).toBe("silence");
  session = admin.session;
  expect([await tokens.find(revoked.id), await tokens.find(kept.id)]).toEqual(["none", kept]);
});

test("making and revoking are links of the audit's chain", async () => {
  const token = aToken("admin");
  await keepToken(admin.ctx, ADMIN, token);
  await revokeToken(admin.ctx, ADMIN, token.id);
  const answers = await admin.session.readMany([1, 2].map((number) => ({ get: paths.auditRecord(number) })));
  const chain = (answers.ok ? answers.value : []).flatMap((answer): AuditRecord[] => {
    const record = answer.kind === "node" ? records.auditRecord.decode(answer.node.data) : null;
    return record?.ok === true ? [record.value] : [];
  });
  expect(chain.map(({ action, target, actor }) => [action, target, actor])).toEqual([
    ["token.make admin for Vera", token.id, "root"],
    ["token.revoke", token.id, "root"],
  ]);
  expect(auditProblem(chain)).toBeNull();
});
