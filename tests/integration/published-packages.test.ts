/** The inventory team's view: packages from a registry in a fresh folder, a recorder of their own, two versions side by side. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { fsck } from "@sluice/fsck";
import { type Child, freePort, startChild } from "@sluice/local-parts";
import { type JobId, paths, records } from "@sluice/queue-core";
import {
  aBatchOfJobs,
  advance,
  aJobSpec,
  checkInvariants,
  claimJob,
  describeViolation,
  makeTree,
  type TestWorker,
  testWorker,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";
import {
  checkTypes,
  type FreshProject,
  freshProject,
  openTarball,
  packedByReadme,
  publishAll,
  ROOT,
  runInstalled,
} from "../support/published.ts";

/** These, and no others: `private` says so in the package.json of each of the others. */
const PUBLISHED = [
  ...["access", "client", "ingest-formats", "inventory", "job-client", "queue-core", "recorder"],
  ...["safe-io", "stage-runtime", "tracing", "wire", "zookeeper"],
].map((name) => `@sluice/${name}`);

let registry: NpmRegistry;
let project: FreshProject;
const children: Child[] = [];

beforeAll(async () => {
  registry = await startNpmRegistry();
  await publishAll(registry);
  project = await freshProject(registry, PUBLISHED);
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.kill("SIGKILL")));
  await Promise.all([project.remove(), registry.close()]);
});

async function startRecorder(
  folder: string,
  name: string,
  connect: string,
): Promise<{ ledger: () => Promise<string[]> }> {
  const ledger = join(folder, `${name}.jsonl`);
  const port = await freePort();
  const child = await startChild({
    command: process.execPath,
    args: ["recorder.mjs"],
    cwd: folder,
    logFile: join(folder, `${name}.log`),
    env: {
      ...process.env,
      ZOOKEEPER_CONNECT: connect,
      METRICS_PORT: String(port),
      WORKER_ID: name,
      STAGE_CONCURRENCY: "1",
      LEDGER: ledger,
    },
  });
  children.push(child);
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.status === 200, {
    what: `${name} ready`,
  });
  const lines = async () => (await readFile(ledger, "utf8").catch(() => "")).trim().split("\n").filter(Boolean);
  return { ledger: lines };
}

const specs = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    aJobSpec({ identifiers: { primary_id: `ark:/99999/fk4own${i}`, local_id: [] } }),
  );
const recordedJobs = async (worker: TestWorker, count: number): Promise<readonly string[]> => {
  let names: readonly string[] = [];
  const look = async () => {
    const listed = await worker.session.children(paths.queue("Notify"));
    names = listed.ok ? listed.value.names.map((name) => name.slice(3)) : [];
    return names.length === count;
  };
  await waitFor(look, { what: `${count} jobs in Notify` });
  return names;
};

describe("a release", () => {
  test("publishes what is listed here, and nothing else", () => {
    expect(registry.names()).toEqual(PUBLISHED);
  });

  test("gives all packages one version, and names them to contributors", async () => {
    const config = JSON.parse(await readFile(join(ROOT, ".changeset/config.json"), "utf8")) as {
      readonly fixed: readonly (readonly string[])[];
    };
    expect(config.fixed.map((group) => [...group].sort())).toEqual([PUBLISHED]);
    const [, published = ""] =
      /^Published are([^.]+)\./m.exec(await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8")) ?? [];
    const named = [...published.matchAll(/`(?:@sluice\/)?([a-z-]+)`/g)].map(([, name = ""]) => `@sluice/${name}`);
    expect(named.sort()).toEqual(PUBLISHED);
  });
});

describe("a published package", () => {
  test.each(PUBLISHED)("%s holds what it needs and nothing else", async (name) => {
    const { files, manifest } = await openTarball(registry.tarball(name));
    expect(files).toEqual(expect.arrayContaining(["package/README.md", "package/LICENSE", "package/dist/index.d.ts"]));
    expect(files.filter((file) => /\/test\/|tsbuildinfo|node_modules/.test(file))).toEqual([]);
    const built = files.filter((file) => file.endsWith(".js"));
    const sources = new Set(files.filter((file) => file.startsWith("package/src/")));
    const orphans = built.filter((file) => !sources.has(file.replace("/dist/", "/src/").replace(/\.js$/, ".ts")));
    expect(orphans).toEqual([]);
    expect(manifest.exports).toEqual({ ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } });
    expect(JSON.stringify(manifest)).not.toMatch(/workspace:|catalog:/);
    const ours = Object.keys(manifest.dependencies).filter((each) => each.startsWith("@sluice/"));
    expect(PUBLISHED).toEqual(expect.arrayContaining(ours));
  });

  test("is packed with all that a stage needs by the command in the example's README", async () => {
    const needed = new Set<string>();
    const need = async (name: string): Promise<void> => {
      if (needed.has(name)) return;
      needed.add(name);
      const { manifest } = await openTarball(registry.tarball(name));
      for (const each of Object.keys(manifest.dependencies)) if (each.startsWith("@sluice/")) await need(each);
    };
    await need("@sluice/stage-runtime");
    const packed = (await packedByReadme()).map((file) =>
      file.replace(/-\d.*\.tgz$/, "").replace("sluice-", "@sluice/"),
    );
    expect(packed).toEqual([...needed].sort());
  });

  test("of the recorder is a program, which says what it lacks", async () => {
    const { code, output } = await runInstalled(project.folder, "sluice-recorder", { ZOOKEEPER_CONNECT: undefined });
    expect({ code, output }).toMatchObject({
      code: 78,
      output: expect.stringContaining("ZOOKEEPER_CONNECT") as unknown,
    });
  });

  test("has types that resolve in a strict project of modules, without leniency towards libraries", async () => {
    await writeFile(
      join(project.folder, "use.mts"),
      [
        ...PUBLISHED.map((name, i) => `import * as p${i} from "${name}";`),
        'import { type JobStage, done } from "@sluice/stage-runtime";',
        'export const stage: JobStage = { kind: "job-stage", takes: "Recording", handle: () => Promise.resolve(done()) };',
        `export const all: readonly object[] = [${PUBLISHED.map((_, i) => `p${i}`).join(", ")}];`,
        "// @ts-expect-error: there is no such state",
        'export const wrong: JobStage = { kind: "job-stage", takes: "Recorded", handle: () => Promise.resolve(done()) };',
      ].join("\n"),
    );
    const compilerOptions = {
      ...{ strict: true, module: "nodenext", target: "es2023", noEmit: true, skipLibCheck: false },
      ...{ checkJs: true, allowJs: true, types: ["node"] },
      typeRoots: [join(ROOT, "node_modules/@types")],
    };
    await writeFile(
      join(project.folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["use.mts", "recorder.mjs"] }),
    );
    expect(await checkTypes(project.folder)).toBe("");
  });

  test("is enough for a recorder of one's own: thirty lines that move jobs on, each recorded once", async () => {
    const { connect } = await testZooKeeper();
    await makeTree(connect);
    const { ledger } = await startRecorder(project.folder, "own-recorder", connect);
    const intake = await testWorker(connect, "batch-intake");
    const { jobs } = await aBatchOfJobs(intake, specs(3));
    for (const id of jobs) await advance(connect, id, "Recording");
    expect([...(await recordedJobs(intake, 3))].sort()).toEqual([...jobs].sort());
    expect(await ledger()).toHaveLength(3);
    await intake.close();
  });
});

/** What a later version may do within one layout: more keys, more kinds of events, states that this one has not heard of. */
async function makeNewer(folder: string): Promise<void> {
  const file = join(folder, "node_modules/@sluice/queue-core/dist/fleet-job.js");
  const source = await readFile(file, "utf8");
  const newer = source.replace(
    "jobEvent(event, claim)]",
    'jobEvent(event, claim), [`v-${event.op}`, seconds(event.atMs), "verified", "Verifying", "newer"]]',
  );
  const marked = newer.replace("return fit({ ...job, events:", 'return fit({ ...job, lane: { of: "newer" }, events:');
  expect(marked).not.toBe(newer);
  expect(newer).not.toBe(source);
  await writeFile(file, marked);
}

describe("an old and a newer version on one tree", () => {
  test("share the work, keep what only the newer one knows, and lose nothing", async () => {
    const { connect, logDir, root } = await testZooKeeper();
    await makeTree(connect);
    const other = await mkdtemp(join(tmpdir(), "sluice-newer-"));
    await cp(project.folder, other, { recursive: true });
    await makeNewer(other);
    const [old, newer] = await Promise.all([
      startRecorder(project.folder, "old-recorder", connect),
      startRecorder(other, "newer-recorder", connect),
    ]);
    const intake = await testWorker(connect, "batch-intake");
    const jobs: JobId[] = [];
    let [byOld, byNewer]: [string[], string[]] = [[], []];
    // Until each has had some: on a busy machine one of them may be the faster one for a while.
    while (byOld.length === 0 || byNewer.length === 0) {
      const more = await aBatchOfJobs(intake, specs(12));
      for (const id of more.jobs) await advance(connect, id, "Recording");
      jobs.push(...more.jobs);
      await recordedJobs(intake, jobs.length);
      [byOld, byNewer] = [await old.ledger(), await newer.ledger()];
    }
    expect(byOld.length + byNewer.length).toBe(jobs.length);

    const notifier = await testWorker(connect, "notifier"); // of this version: the old one
    for (const id of jobs) {
      const loaded = await claimJob(notifier, "Notify", id);
      expect(await notifier.jobs.commit(loaded, { kind: "done", changes: {} })).toMatchObject({ to: "Completed" });
    }
    const kept = await Promise.all(jobs.map((id) => notifier.session.get(paths.fleetJob(id))));
    const histories = kept.map((node) => (node.ok ? records.fleetJob.decode(node.value.data) : null));
    const lanes = histories.filter((history) => history?.ok === true && history.value["lane"] !== undefined);
    const verified = histories.filter(
      (h) => h?.ok === true && h.value.events.some(([, , kind]) => kind === "verified"),
    );
    expect([lanes.length, verified.length]).toEqual([byNewer.length, byNewer.length]);

    const looked = await fsck(notifier.session);
    expect(looked.kind === "looked" ? looked.report.findings.map(({ path, what }) => `${path} ${what}`) : null).toEqual(
      [],
    );
    // How many events a move adds is each version's own affair.
    const violations = checkInvariants({ logDir, root }).violations.filter(
      ({ invariant }) => !invariant.startsWith("L-02"),
    );
    expect(violations.map(describeViolation)).toEqual([]);
    await Promise.all([intake.close(), notifier.close()]);
    await rm(other, { recursive: true, force: true });
  });
});
