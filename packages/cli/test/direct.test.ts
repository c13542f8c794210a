/** Straight to ZooKeeper: fsck, snapshot and restore without any service. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { jobId, paths } from "@sluice/queue-core";
import { aBatchOfJobs, openRawSession, type RawSession, testWorker, testZooKeeper, tree } from "@sluice/testkit";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "./support.ts";

let cwd: string;
let connect: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "sluice-direct-"));
  ({ connect } = await testZooKeeper());
  const intake = await testWorker(connect, "batch-intake", { register: false });
  await aBatchOfJobs(intake, 3);
  await intake.close();
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

async function withSession<T>(to: string, work: (session: RawSession) => Promise<T>): Promise<T> {
  const session = await openRawSession(to);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
const jobsOf = (to: string) => withSession(to, (session) => tree(session, { except: /^\/(fleet|zookeeper)/ }));

/** A queue entry that belongs to no job. */
const plant = () =>
  withSession(connect, async (session) => {
    const path = paths.queueEntry("Pending", 5, jobId(9_999));
    await session.multi([{ op: "create", path, data: Buffer.alloc(0) }]);
  });

test("fsck finds nothing in a good tree, warns where it goes, and names, mends and audits what is wrong", async () => {
  const well = await sluice(`fsck --zookeeper ${connect}`);
  expect([well.code, well.out]).toEqual([0, ""]);
  expect(well.err).toContain("WARNING: straight to ZooKeeper");
  await plant();
  const found = await sluice(`fsck --zookeeper ${connect}`);
  expect(found.code).toBe(2);
  expect(found.out).toContain("jid0000009999");
  expect((await sluice(`fsck --repair --zookeeper ${connect}`)).code).toBe(64);
  const dry = await sluice(`fsck --repair --dry-run --zookeeper ${connect}`);
  expect(dry.code).toBe(2);
  const mended = await sluice(`fsck --repair --reason "after a crash" --zookeeper ${connect}`, { answers: ["y"] });
  expect([mended.code, mended.out]).toEqual([0, expect.stringContaining("mended")]);
  expect((await sluice(`fsck --zookeeper ${connect}`)).code).toBe(0);
  const audit = await withSession(connect, (session) => tree(session, { except: /^\/(jobs|batches|batch|zookeeper)/ }));
  expect(JSON.stringify(audit)).toContain("ida (direct)");
});

test("a snapshot is taken for its owner alone, checked, and restored into another tree", async () => {
  const taken = await sluice(`snapshot tree.gz --zookeeper ${connect}`, { cwd });
  expect([taken.code, taken.out]).toEqual([0, expect.stringContaining("exact")]);
  expect((await stat(join(cwd, "tree.gz"))).mode & 0o777).toBe(0o600);
  const before = await readFile(join(cwd, "tree.gz"));
  const twice = await sluice(`snapshot tree.gz --zookeeper ${connect}`, { cwd });
  expect([twice.code, twice.err]).toEqual([4, expect.stringContaining("--overwrite")]);
  expect(await readFile(join(cwd, "tree.gz"))).toEqual(before);
  expect((await sluice(`snapshot tree.gz --overwrite --zookeeper ${connect}`, { cwd })).code).toBe(0);
  expect((await sluice("restore tree.gz --dry-run", { cwd })).out).toContain("is whole");
  expect((await sluice('restore tree.gz --reason "a test" --yes', { cwd })).code).toBe(64);
  const other = (await testZooKeeper()).connect;
  const no = await sluice(`restore tree.gz --zookeeper ${other} --reason "a test"`, { cwd, answers: ["yes"] });
  expect(no.code).toBe(4);
  const restored = await sluice(`restore tree.gz --zookeeper ${other} --reason "a test"`, {
    cwd,
    answers: ["restore"],
  });
  expect([restored.code, restored.err]).toEqual([0, expect.stringContaining("WARNING")]);
  expect(await jobsOf(other)).toEqual(await jobsOf(connect));
  const again = await sluice(`restore tree.gz --zookeeper ${other} --reason "a test" --yes`, { cwd });
  expect([again.code, again.err]).toEqual([4, expect.stringContaining("--replace")]);
});

test("a damaged file, and a ZooKeeper that is not there, are told", async () => {
  await sluice(`snapshot tree.gz --overwrite --zookeeper ${connect}`, { cwd });
  const bytes = await readFile(join(cwd, "tree.gz"));
  await writeFile(join(cwd, "half.gz"), bytes.subarray(0, bytes.length / 2));
  expect((await sluice("restore half.gz --dry-run", { cwd })).code).toBe(1);
  expect((await sluice("restore none.gz --dry-run", { cwd })).code).toBe(1);
  const bad = await sluice("fsck --zookeeper /nonsense", { cwd });
  expect(bad.code).toBe(64);
});

test("a program with CDL's library is let in for a stage, shown, and ended, each in the audit", async () => {
  const to = `--zookeeper ${connect}`;
  expect((await sluice(`beside show ${to}`)).code).toBe(2);
  expect((await sluice(`beside start downloader --reason "as a test" --yes ${to}`)).code).toBe(64);
  const unsure = await sluice(`beside start recorder --reason "as a test" ${to}`, { answers: ["y"] });
  expect([unsure.code, unsure.err]).toEqual([4, expect.stringContaining("nothing was done")]);
  const started = await sluice(`beside start recorder --reason "as a test" ${to}`, { answers: ["recorder"] });
  expect([started.code, started.out]).toEqual([0, expect.stringContaining("recorder")]);
  const shown = await sluice(`beside show ${to}`);
  expect([shown.code, shown.out]).toEqual([0, expect.stringMatching(/recorder since .* ida \(direct\): as a test/)]);
  const again = await sluice(`beside start recorder --reason "as a test" --yes ${to}`);
  expect([again.code, again.err]).toEqual([4, expect.stringContaining("let in already")]);
  const ended = await sluice(`beside end --reason "it has stopped" ${to}`, { answers: ["y"] });
  expect([ended.code, ended.out]).toEqual([0, expect.stringContaining("alone")]);
  const audit = await withSession(connect, (session) => tree(session, { except: /^\/(jobs|batches|batch|zookeeper)/ }));
  expect(JSON.stringify(audit)).toMatch(/beside\.start.*beside\.end/);
});
