/** Goal: the audit in ZooKeeper stays short, and not one of its records is lost, doubled or forged on the way. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { AuditArchive } from "@sluice/inventory";
import { AUDIT_RECORDS_BACK, paths, readAuditEnds } from "@sluice/queue-core";
import { openRawSession, securedZooKeeper, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { ensureChroot, RIGHTS } from "@sluice/zookeeper";
import { addRecords, aKey, auditBench, type AuditBench, verifierOf } from "./audit-support.ts";

let connect: string;
let worker: TestWorker;
let bench: AuditBench;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  worker = await testWorker(connect, "reporter");
  bench = await auditBench(worker);
});
afterEach(async () => {
  await bench.close();
  await worker.close();
});

const OLD = 70;
const ALL = AUDIT_RECORDS_BACK + OLD;

async function inTree(): Promise<readonly number[]> {
  const names = await worker.session.children(paths.auditRecords);
  return names.ok ? names.value.names.map(Number).sort((a, b) => a - b) : [];
}

async function archived(archive: AuditArchive = bench.inventory): Promise<readonly number[]> {
  const rows = await archive.listAudit({ after: 0, limit: 10_000 });
  return rows.kind === "found" ? rows.value.map(({ number }) => number) : [];
}

const upTo = (last: number, first = 1): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

async function anchor() {
  const read = await readAuditEnds(worker.session);
  if (read.kind !== "found" || read.ends.anchor === null) throw new Error("no anchor");
  return read.ends.anchor;
}

test("old records leave the tree behind a signed anchor, and the archive has every one of them", async () => {
  await addRecords(worker, ALL);
  expect(await bench.shorten()).toEqual({
    trouble: null,
    exported: ALL,
    left: 0,
    removed: OLD,
    inTree: AUDIT_RECORDS_BACK,
  });
  expect(await inTree()).toEqual(upTo(ALL, OLD + 1));
  expect(await archived()).toEqual(upTo(ALL));
  const signed = await anchor();
  expect(signed).toMatchObject({ number: OLD, removed: OLD, key: bench.key.signer.key });
  expect(verifierOf(bench.key.publicPem).verify(signed)).toBe("good");
  expect(verifierOf(bench.key.publicPem).verify({ ...signed, number: OLD + 1 })).toBe("bad");
  expect(verifierOf(aKey().publicPem).verify(signed)).toBe("unknown-key");

  expect(await bench.shorten()).toMatchObject({ trouble: null, exported: 0, removed: 0 });
  await addRecords(worker, 3);
  expect(await bench.shorten()).toMatchObject({ trouble: null, exported: 3, removed: 3, inTree: AUDIT_RECORDS_BACK });
  expect(await archived()).toEqual(upTo(ALL + 3));
});

test("young records are archived, and stay", async () => {
  await addRecords(worker, ALL);
  expect(await bench.shorten({ retentionMs: 3_600_000 })).toMatchObject({ trouble: null, exported: ALL, removed: 0 });
  expect(await inTree()).toEqual(upTo(ALL));
});

describe("a run that dies", () => {
  const STEPS = ["afterAuditExport", "afterAuditSigned", "afterAuditAnchor", "afterAuditOpened", "afterAuditRemoval"];

  test.each(STEPS)("at %s is taken up by the next one: nothing is lost, nothing is there twice", async (step) => {
    await addRecords(worker, ALL);
    await expect(bench.shorten({}, step)).rejects.toThrow(`dead at ${step}`);
    const kept = new Set([...(await inTree()), ...(await archived())]);
    expect([...kept].sort((a, b) => a - b)).toEqual(upTo(ALL));
    expect(await bench.shorten()).toMatchObject({ trouble: null, inTree: AUDIT_RECORDS_BACK });
    expect(await inTree()).toEqual(upTo(ALL, OLD + 1));
    expect(await archived()).toEqual(upTo(ALL));
  });

  test("leaves its work to another process, and of two at once one goes on", async () => {
    await addRecords(worker, ALL);
    const runs = await Promise.all([bench.shorten(), bench.shorten()]);
    expect(runs.reduce((sum, { removed }) => sum + removed, 0)).toBe(OLD);
    expect(await bench.shorten()).toMatchObject({ trouble: null, inTree: AUDIT_RECORDS_BACK });
    expect(await archived()).toEqual(upTo(ALL));
  });
});

describe("nothing leaves the tree", () => {
  beforeEach(() => addRecords(worker, ALL));
  afterEach(async () => expect(await inTree()).toEqual(upTo(ALL)));

  test("without a key, but all of it is archived", async () => {
    const key = () => Promise.resolve({ ok: false, problem: "AUDIT_KEY_FILE is not set" } as const);
    expect(await bench.shorten({ key })).toMatchObject({ trouble: { outcome: "no-key" }, removed: 0 });
    expect(await archived()).toEqual(upTo(ALL));
  });

  test("when a record was changed: it is archived up to there, and the path is said", async () => {
    const raw = await openRawSession(connect);
    const path = paths.auditRecord(30);
    const node = await raw.get(path);
    const forged = Buffer.from(node.ok ? node.value.data.toString().replace("olga", "paul") : "");
    await raw.multi([{ op: "set", path, data: forged, version: 0 }]);
    const why = `${paths.auditRecord(31)} does not follow its predecessor`;
    expect(await bench.shorten()).toMatchObject({ trouble: { outcome: "broken-chain", why }, removed: 0 });
    await raw.close();
  });

  test("while the archive is away, or says that it kept what it did not", async () => {
    const away = { kind: "unavailable", message: "the database is away" } as const;
    const silent = { ...bench.inventory, keepAudit: () => Promise.resolve(away) };
    expect(await bench.shorten({ archive: silent })).toMatchObject({
      trouble: { outcome: "archive", why: "the database is away" },
    });
    const kept = { kind: "kept", added: 0, left: 0 } as const;
    const liar = { ...bench.inventory, keepAudit: () => Promise.resolve(kept) };
    expect(await bench.shorten({ archive: liar })).toMatchObject({
      trouble: { outcome: "gap", why: "record 1 is not in the archive as the tree has it" },
    });
  });
});

test("an archive that lacks what was removed stops the removal, until somebody says that it is lost", async () => {
  await addRecords(worker, ALL);
  await bench.shorten();
  await addRecords(worker, 5);
  const archive = await bench.anotherInventory();
  const gap = await bench.shorten({ archive });
  expect(gap).toMatchObject({ trouble: { outcome: "gap" }, exported: AUDIT_RECORDS_BACK + 5, removed: 0 });
  expect(gap.trouble?.why).toContain(`record ${OLD} is removed from the tree`);
  expect(await archived(archive)).toEqual(upTo(ALL + 5, OLD + 1));
  expect(await bench.shorten({ archive, lostUpTo: OLD })).toMatchObject({ trouble: null, removed: 5 });
});

test("a tree that goes back to an earlier past goes on in the archive, which keeps the other one beside it", async () => {
  await addRecords(worker, ALL);
  const before = await auditNodes();
  await addRecords(worker, 40);
  await bench.shorten();
  expect(await archived()).toEqual(upTo(ALL + 40));
  const lost = await chainOf(ALL + 1);

  await putBack(before);
  await addRecords(worker, 10);
  const run = await bench.shorten();
  expect(run).toEqual({ trouble: null, exported: 10, left: 40, removed: OLD + 10, inTree: AUDIT_RECORDS_BACK });
  expect(await archived()).toEqual(upTo(ALL + 10));
  expect(await bench.inventory.leftAudit()).toEqual({
    kind: "found",
    value: { records: 40, first: ALL + 1, last: ALL + 40 },
  });
  expect(await chainOf(ALL + 1)).not.toBe(lost);
});

/** The audit's nodes, as a snapshot has them. */
async function auditNodes(): Promise<ReadonlyMap<string, Buffer>> {
  const listed = await worker.session.children(paths.auditRecords);
  const names = listed.ok ? listed.value.names.map((name) => `${paths.auditRecords}/${name}`) : [];
  const nodes = new Map<string, Buffer>();
  for (const path of [paths.auditHead, paths.auditAnchor, ...names]) {
    const node = await worker.session.get(path);
    if (node.ok) nodes.set(path, node.value.data);
  }
  return nodes;
}

/** As a restore does: everything of the audit goes, and what the snapshot has is made again. */
async function putBack(nodes: ReadonlyMap<string, Buffer>): Promise<void> {
  const raw = await openRawSession(connect);
  for (const path of (await auditNodes()).keys()) {
    const node = await raw.get(path);
    if (node.ok) await raw.multi([{ op: "delete", path, version: node.value.stat.version }]);
  }
  for (const [path, data] of nodes) await raw.multi([{ op: "create", path, data }]);
  await raw.close();
}

async function chainOf(number: number): Promise<string> {
  const rows = await bench.inventory.listAudit({ after: number - 1, limit: 1 });
  return rows.kind === "found" ? (rows.value[0]?.hash ?? "") : "";
}

test("where access lists forbid it to everybody, it is allowed for the removal, and forbidden again", async () => {
  const zk = await securedZooKeeper();
  const access = zk.access(zk.fleet);
  const secured = `${zk.server.connect}/audit`;
  await ensureChroot({ connect: secured, timeoutMs: 10_000, access });
  const fleet = await testWorker(secured, "reporter", { access });
  const own = await auditBench(fleet);
  const rights = async () => {
    const list = await fleet.session.getAcl(paths.auditRecords);
    return list.ok ? list.value.entries.map(({ permissions }) => permissions) : [];
  };
  const closed = [RIGHTS.read | RIGHTS.create | RIGHTS.admin, RIGHTS.read];
  await addRecords(fleet, ALL);
  expect(await rights()).toEqual(closed);
  await expect(own.shorten({}, "afterAuditOpened")).rejects.toThrow("dead");
  expect(await rights()).toEqual([RIGHTS.read | RIGHTS.create | RIGHTS.delete | RIGHTS.admin, RIGHTS.read]);
  expect(await own.shorten()).toMatchObject({ trouble: null, removed: OLD, inTree: AUDIT_RECORDS_BACK });
  expect(await rights()).toEqual(closed);
  await own.close();
  await fleet.close();
  await zk.stop();
});
