/** Tokens, tree, logs: against a real admin. Every example of the help is run, and no token is ever shown. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Role } from "@sluice/access";
import { type BatchId, jobId, type JobId, paths } from "@sluice/queue-core";
import { aBatchOfJobs, openRawSession, testWorker, type TestWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { COLLECTION, startAdmin, type TestAdmin } from "../../../services/admin/test/support.ts";
import { toIntake, toJobs } from "../src/command.ts";
import { COMMANDS } from "../src/commands/all.ts";
import { type Played, sluice, type Stage } from "./support.ts";

const WHY = '--reason "a test"';
let connect: string;
let intake: TestWorker;
let admin: TestAdmin;
let batch: BatchId;
let jobs: readonly JobId[];

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  admin = await startAdmin(connect);
  ({ batch, jobs } = await aBatchOfJobs(intake, 3));
});
afterEach(async () => {
  await admin.stop();
  await intake.close();
});

const as =
  (role: Role) =>
  (line: string, stage: Stage = {}): Promise<Played> =>
    sluice(line, {
      cwd: admin.dir,
      home: admin.dir,
      ...stage,
      env: {
        SLUICE_ADMIN_URL: admin.url,
        SLUICE_INTAKE_URL: admin.url,
        SLUICE_TOKEN: admin.tokens[role],
        ...stage.env,
      },
    });
const olga = as("operator");
const root = as("admin");

test("tokens are made, work, are listed without their secret, and stop working when revoked", async () => {
  const made = await root(`token create ada --role depositor --collection ${COLLECTION} --days 7 ${WHY}`);
  expect(made.code).toBe(0);
  const token = made.out.trim();
  expect(token).toMatch(/^slc_/);
  expect(made.err).not.toContain(token);
  const ada = { env: { SLUICE_TOKEN: token } };
  expect((await root("whoami", ada)).out).toMatch(/^Collections: +sluice_demo_content$/m);
  expect((await root("stage list", ada)).code).toBe(4);
  const listed = await root("token list -o wide");
  expect(listed.out).toMatch(/ada +depositor +sluice_demo_content/);
  expect(listed.out).not.toContain(token);
  const id = (await root("token list -o json")).out;
  const found = (JSON.parse(id) as { items: { id: string; name: string }[] }).items.find(({ name }) => name === "ada");
  expect((await root(`token revoke ${found?.id ?? ""} ${WHY}`)).code).toBe(64);
  expect((await root(`token revoke ${found?.id ?? ""} ${WHY} --yes`)).code).toBe(0);
  await waitFor(async () => (await root("whoami", ada)).code === 4);
  const worker = await root(`token create inventory-team --stage recorder ${WHY}`);
  expect([worker.code, worker.err]).toEqual([0, expect.stringContaining("worker of stage recorder")]);
  expect((await root("token list -o wide")).out).toMatch(/inventory-team +worker +- +recorder/);
  expect((await root(`token create eve --role viewer --stage recorder ${WHY}`)).code).toBe(64);
  expect((await root("whoami", { env: { SLUICE_TOKEN: worker.out.trim() } })).code).toBe(4);
  expect((await olga(`token create eve --role admin --collection * ${WHY}`)).code).toBe(4);
  expect((await root("token create eve --role boss")).code).toBe(64);
  const forgotten = await root(`token create eve --role depositor ${WHY}`);
  expect([forgotten.code, forgotten.err]).toEqual([64, expect.stringContaining("--collection '*' for all of them")]);
  const all = await root(`token create eve --role viewer --collection * --dry-run ${WHY}`);
  expect(all.out + all.err).toContain("viewer of all collections");
});

test("nodes are shown with their children", async () => {
  const shown = await olga(`node show /jobs/${jobs[0]!}`);
  expect(shown.code).toBe(0);
  expect(shown.out).toContain("status");
  expect((await olga("node show /nowhere")).code).toBe(3);
});

test("logs that cannot be read are said to be so", async () => {
  const { code, out, err } = await olga(`logs ${jobs[0]!}`);
  expect([code, out]).toEqual([0, ""]);
  expect(err).not.toBe("");
});

describe("the tree", () => {
  test("is checked, mended by an admin, and checked again", async () => {
    expect((await olga("fsck")).code).toBe(0);
    const session = await openRawSession(connect);
    await session.multi([{ op: "create", path: paths.queueEntry("Pending", 5, jobId(9_999)), data: Buffer.alloc(0) }]);
    await session.close();
    const found = await olga("fsck");
    expect([found.code, found.out]).toEqual([2, expect.stringContaining("jid0000009999")]);
    expect((await olga(`fsck --repair ${WHY} --yes`)).code).toBe(4);
    const mended = await root(`fsck --repair ${WHY}`, { answers: ["y"] });
    expect([mended.code, mended.out]).toEqual([0, expect.stringContaining("mended")]);
    expect((await olga("fsck")).code).toBe(0);
  });

  test("comes as a file that only its owner can read, and that restore takes", async () => {
    const { code, out } = await olga("snapshot tree.gz");
    expect([code, out]).toEqual([0, expect.stringMatching(/nodes of fleet \S+ at/)]);
    expect((await stat(join(admin.dir, "tree.gz"))).mode & 0o777).toBe(0o600);
    expect((await olga("restore tree.gz --dry-run")).out).toContain("is whole");
  });

  test("is taken at night with the token that the guide for Kubernetes makes, which can do little else", async () => {
    const guide = await readFile(new URL("../../../docs/kubernetes.md", import.meta.url), "utf8");
    const [, words = ""] = /^sluice (token create nightly-snapshot .*) \\$/m.exec(guide) ?? [];
    const made = await root(words.replaceAll("'", ""));
    expect([words, made.code, made.err]).toEqual([expect.stringContaining("--role maintainer"), 0, expect.any(String)]);
    await writeFile(join(admin.dir, "token"), made.out.replaceAll("\n", ""), { mode: 0o600 });
    const night = (line: string): Promise<Played> =>
      olga(`${line} --token-file ${join(admin.dir, "token")}`, { env: { SLUICE_TOKEN: "" } });
    expect((await night("snapshot tree-18.gz")).code).toBe(0);
    for (const line of [`job fail ${jobs[0]!} ${WHY} --yes`, `queue pause ${WHY} --yes`, `token list`])
      expect([line, (await night(line)).code]).not.toEqual([line, 0]);
  });
});

test("every example of the help does what it says, or says why not now; no token is shown", async () => {
  await writeFile(join(admin.dir, "notes.txt"), "hello");
  await writeFile(join(admin.dir, "batch.checkm"), "#%checkm_0.7\n");
  await olga(`job fail ${jobs[2]!} ${WHY} --yes`);
  const operation = (await olga(`job resume --state Failed ${WHY} --yes --no-wait -o name`)).out.trim();
  const token = (await root(`token create x --role viewer --collection * ${WHY} -o name`)).out.trim();
  // Those that wait for a stage, or talk to an intake, the job queue or ZooKeeper itself, have tests of their own.
  const elsewhere = new Set(["submit", "batch watch", "job watch", "doctor"]);
  const commands = COMMANDS.filter(
    ({ words, talksTo }) => !elsewhere.has(words.join(" ")) && talksTo !== toJobs && talksTo !== toIntake,
  );
  const secrets = Object.values(admin.tokens);
  // The snapshot comes before the restore that reads it.
  const throughTheApi = commands.flatMap(({ examples }) => examples).filter((line) => !line.includes("--zookeeper"));
  for (const example of throughTheApi) {
    const line = example
      .replace(/\bbid\d{10}\b/, batch)
      .replace(/\bjid\d{10}\b/, jobs[0]!)
      .replace(/\bWORKER\b/, intake.actor.worker)
      .replace(/\bOPERATION\b/, operation)
      .replace(/\bTOKEN\b/, token);
    const { code, out, err } = await root(line);
    expect([line, err, [0, 2, 4].includes(code)]).toEqual([line, err, true]);
    expect(secrets.filter((secret) => `${out}${err}`.includes(secret))).toEqual([]);
  }
});
