/**
 * Goal: whoever asks for the audit sees one chain, wherever its records are, and sees it when somebody changed one of them.
 * Method: a real tree, a real archive, the reporter's own steps, and the admin's API over both.
 */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { fsck } from "@sluice/fsck";
import { AUDIT_RECORDS_BACK, paths } from "@sluice/queue-core";
import { openRawSession, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { restoreSnapshot, takeSnapshot } from "@sluice/tree-snapshot";
import { ADMIN } from "@sluice/wire";
import { connectSession, makeCommitter } from "@sluice/zookeeper";
import Database from "libsql";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refusalOf, startAdmin, type TestAdmin, valueOf } from "../../services/admin/test/support.ts";
import { addRecords, aKey, auditBench, type AuditBench } from "../../services/reporter/test/audit-support.ts";

const OLD = 60;
const ALL = AUDIT_RECORDS_BACK + OLD;
const OLGA = { name: "olga", reason: "the disk was lost" };

let connect: string;
let operator: TestWorker;
let bench: AuditBench;
let admin: TestAdmin;
let folder: string;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  operator = await testWorker(connect, "operator", { register: false });
  bench = await auditBench(operator);
  folder = await mkdtemp(join(tmpdir(), "sluice-audit-"));
  await writeFile(join(folder, "keys.pem"), bench.key.publicPem);
  admin = await startAdmin(connect, {
    env: { AUDIT_PUBLIC_KEYS_FILE: join(folder, "keys.pem"), FSCK_INTERVAL_MS: "0" },
    outside: { archive: bench.inventory },
  });
  await addRecords(operator, ALL);
  expect(await bench.shorten()).toMatchObject({ trouble: null, removed: OLD });
});
afterEach(async () => {
  await admin.stop();
  await bench.close();
  await operator.close();
  await rm(folder, { recursive: true });
});

const check = async (of = admin) => valueOf(await of.as("viewer").call(ADMIN.auditCheck, {}));

async function numbers(query: { readonly limit: number; readonly target?: string }): Promise<readonly number[]> {
  const found: number[] = [];
  for (let cursor: string | undefined; ;) {
    const page = valueOf(
      await admin.as("viewer").call(ADMIN.audit, { query: { ...query, ...(cursor === undefined ? {} : { cursor }) } }),
    );
    found.push(...page.items.map(({ number }) => number));
    if (page.next_cursor === null) return found;
    cursor = page.next_cursor;
  }
}

const findings = async (): Promise<readonly string[]> => {
  const looked = await fsck(operator.session);
  return looked.kind === "looked" ? looked.report.findings.map(({ rule, path }) => `${rule} ${path}`) : [looked.kind];
};

const fallingFrom = (last: number) => Array.from({ length: last }, (_, i) => last - i);

test("pages go on into the archive, and the check goes over archive, signatures, anchor and tree", async () => {
  expect(await numbers({ limit: 70 })).toEqual(fallingFrom(ALL));
  expect(await numbers({ limit: 50, target: "thing-3" })).toEqual([4]);
  const whole = { records: ALL, archived: OLD, anchors: 1, signatures: "checked", left: null, whole: true };
  expect(await check()).toEqual({ ...whole, problem: null });
  expect(await findings()).toEqual([]);

  await addRecords(operator, 5);
  const another = aKey();
  await writeFile(join(folder, "keys.pem"), `${bench.key.publicPem}${another.publicPem}`);
  const rotated = { key: () => Promise.resolve({ ok: true, value: another.signer } as const) };
  expect(await bench.shorten(rotated)).toMatchObject({ trouble: null, removed: 5 });
  expect(await check()).toMatchObject({ records: ALL + 5, archived: OLD + 5, anchors: 2, whole: true });
});

test("while a removal is in progress the chain is whole, for fsck too", async () => {
  await addRecords(operator, 10);
  await expect(bench.shorten({}, "afterAuditAnchor")).rejects.toThrow("dead");
  expect(await findings()).toEqual([]);
  expect(await check()).toMatchObject({ records: ALL + 10, archived: OLD, whole: true });
});

describe("a forged past shows", () => {
  const change = (sql: string, ...values: readonly (string | number)[]): void => {
    const database = new Database(bench.file);
    database.prepare(sql).run(values);
    database.close();
  };
  const problem = async (): Promise<string | null> => (await check()).problem;

  test("when a record of the archive was changed, or is gone", async () => {
    change("update archived_audit set record = replace(record, 'olga', 'paul') where number = ?", 30);
    expect(await problem()).toBe("archived record 30 has another hash than its row says");
    change("delete from archived_audit where number = ?", 30);
    expect(await problem()).toContain("records 30 to 30 are missing");
  });

  test("when an anchor was signed by somebody else, or moved", async () => {
    await writeFile(join(folder, "keys.pem"), aKey().publicPem);
    expect(await problem()).toContain(`is signed with key ${bench.key.signer.key}`);
    await writeFile(join(folder, "keys.pem"), bench.key.publicPem);
    const raw = await openRawSession(connect);
    const node = await raw.get(paths.auditAnchor);
    const [data, version] = node.ok ? [node.value.data.toString(), node.value.stat.version] : ["", 0];
    const moved = { ...(JSON.parse(data) as object), hash: "0".repeat(64) };
    await raw.multi([{ op: "set", path: paths.auditAnchor, data: Buffer.from(JSON.stringify(moved)), version }]);
    await raw.close();
    expect(await problem()).toBe(`the signature of the anchor at record ${OLD} is wrong`);
    expect(await findings()).toEqual([`I-37 ${paths.auditRecord(OLD + 1)}`]);
  });

  test("an admin without the archive says that it cannot know, and where older records are", async () => {
    const blind = await startAdmin(connect, { env: { FSCK_INTERVAL_MS: "0" } });
    expect(await check(blind)).toMatchObject({ whole: false, problem: expect.stringContaining("INVENTORY_URL") });
    const viewer = blind.as("viewer");
    const page = valueOf(await viewer.call(ADMIN.audit, { query: { limit: 200 } }));
    const older = await viewer.call(ADMIN.audit, { query: { limit: 200, cursor: page.next_cursor ?? "" } });
    expect(refusalOf(older)).toMatchObject({ status: 503, detail: expect.stringContaining("INVENTORY_URL") });
    await blind.stop();
  });
});

test("a snapshot of before the removal is restored: the chain goes on, and the archive says what the restore has left", async () => {
  const file = join(folder, "tree.gz");
  expect(await takeSnapshot(operator.session, file, { nowMs: 0 })).toMatchObject({ kind: "taken" });
  await addRecords(operator, 30);
  expect(await bench.shorten()).toMatchObject({ trouble: null, removed: 30 });
  await admin.stop();

  const restored = await restoreSnapshot(operator.ctx, OLGA, file, { replace: true });
  expect(restored).toMatchObject({ kind: "restored" });
  const session = await connectSession({ connect, timeoutMs: 10_000 });
  const worker = { ...operator, session, ctx: { ...operator.ctx, session, committer: makeCommitter(session) } };
  await addRecords(worker, 3);
  expect(await bench.shorten()).toMatchObject({ trouble: null, left: 30, exported: 4, removed: 4 });
  await session.close();

  admin = await startAdmin(connect, {
    env: { AUDIT_PUBLIC_KEYS_FILE: join(folder, "keys.pem"), FSCK_INTERVAL_MS: "0" },
    outside: { archive: bench.inventory },
  });
  expect(await check()).toMatchObject({
    records: ALL + 4,
    archived: OLD + 4,
    left: { records: 30, first: ALL + 1, last: ALL + 30 },
    whole: true,
  });
  const { items } = valueOf(await admin.as("viewer").call(ADMIN.audit, { query: { limit: 4 } }));
  expect(items.at(-1)?.action).toMatch(/^tree\.restore of /);
  expect(await numbers({ limit: 200 })).toEqual(fallingFrom(ALL + 4));
  expect(await findings()).toEqual([]);
});
