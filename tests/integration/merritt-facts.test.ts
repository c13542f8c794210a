/**
 * What Merritt's own end-to-end tests assert of its ingest, each as a test of the whole fleet. Where the design of Sluice
 * says otherwise, the test says what Sluice does.
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  actOnBatch,
  actOnJob,
  type BatchId,
  type JobId,
  type JobView,
  listBucket,
  readBatch,
  readJob,
  releaseHold,
  resumeJob,
  setHold,
} from "@sluice/queue-core";
import {
  checkInvariants,
  describeViolation,
  type HttpServer,
  type OwnZooKeeper,
  ownZooKeeper,
  readTransactions,
  serveHttp,
  testWorker,
  type TestWorker,
  waitFor,
} from "@sluice/testkit";
import { readMail } from "../support/effects.ts";
import { type Fleet, makeFleet, PROFILE, type Running, untilReady } from "../support/fleet.ts";
import { batchManifest, objectManifest } from "../support/manifests.ts";
import { postForm } from "../support/poster.ts";
import { untilStopped } from "../support/processes.ts";
import { metric, untilReported } from "../support/watch.ts";

/** Of the same owner, for another collection. */
const OTHER_PROFILE = "sluice_other_content";
const OPERATOR = { name: "ops", reason: "test" };
const ERC = "erc:\nwho: The File\nwhere: ark:/99999/dummy\nwhere: localid; localidtwo; localidthree\n";
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** What the depositor's server has; what is missing there is a 404. */
const site = new Map<string, string>([
  ["/hello.txt", "hello"],
  ["/mrt-erc.txt", ERC],
]);

let zk: OwnZooKeeper;
let fleet: Fleet;
let content: HttpServer;
let operator: TestWorker;
let intake: Running;

beforeAll(async () => {
  zk = await ownZooKeeper();
  content = await serveHttp(({ path }, response) => {
    const text = site.get(path);
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
  fleet = await makeFleet({ zookeeper: zk.connect, env: { POLL_INTERVAL_MS: "200" } });
  const text = await readFile(join(fleet.dataDir, "profiles", PROFILE), "utf8");
  const other = text
    .replace(PROFILE, OTHER_PROFILE)
    .replace(/^Collection.1: .*$/m, "Collection.1: ark:/99999/fk4other");
  await writeFile(join(fleet.dataDir, "profiles", OTHER_PROFILE), other);
  [intake] = (await fleet.startAll()) as [Running];
  operator = await testWorker(zk.connect, "operator", { register: false });
});
afterAll(async () => {
  await operator.close();
  await fleet.stop();
  await Promise.all([zk.stop(), content.close()]);
});

const reported = (id: BatchId): Promise<string> => untilReported(operator.session, id);

async function jobOf(id: JobId): Promise<JobView> {
  const view = await readJob(operator.session, id);
  if (view.kind !== "found") throw new Error(`${id}: ${view.kind}`);
  return view.value;
}

/** The only job of a batch, once the batch has ended. */
async function completedJob(id: BatchId): Promise<JobView> {
  expect(await reported(id)).toBe("Completed");
  const [job, ...others] = (await listBucket(operator.session, id, "batch-completed")) ?? [];
  expect(others).toEqual([]);
  return jobOf(job!);
}

const submit = (fields: Record<string, string>, text = "hello"): Promise<BatchId> =>
  postForm(intake, { name: "hello.txt", text }, { type: "file", ...fields });

async function storedPaths({ inventory }: JobView): Promise<readonly string[]> {
  const text = await readFile(new URL(inventory!.manifest_url), "utf8");
  const { head, versions } = JSON.parse(text) as {
    head: string;
    versions: Record<string, { state: Record<string, string[]> }>;
  };
  return Object.values(versions[head]!.state).flat().sort();
}

describe("identifiers", () => {
  test("local ids that the form repeats are kept once", async () => {
    const job = await completedJob(await submit({ localIdentifier: "again;again;again;againtwo;againtwo" }));
    expect(job.identifiers?.local_id).toEqual(["again", "againtwo"]);
  });

  test("the form's local ids go before those of mrt-erc.txt, which gives the primary id", async () => {
    const manifest = objectManifest([{ url: `${content.url}/mrt-erc.txt`, name: "mrt-erc.txt" }]);
    const id = await postForm(
      intake,
      { name: "object.checkm", text: manifest },
      { type: "object-manifest", localIdentifier: "localidfour;localidfive" },
    );
    const job = await completedJob(id);
    expect(job.identifiers).toMatchObject({
      primary_id: "ark:/99999/dummy",
      local_id: ["localidfour", "localidfive", "localid", "localidtwo", "localidthree"],
    });
  });

  test("the local ids of a batch manifest's row override the form's", async () => {
    const text = batchManifest([{ url: `${content.url}/hello.txt`, name: "hello.txt", localId: "of the row" }]);
    const id = await postForm(
      intake,
      { name: "batch.checkm", text },
      { type: "single-file-batch-manifest", localIdentifier: "of the form" },
    );
    expect((await completedJob(id)).identifiers?.local_id).toEqual(["of the row"]);
  });
});

describe("digests", () => {
  test("a SHA-256 in capital letters is accepted, from the form and from a manifest", async () => {
    const value = sha256("hello").toUpperCase();
    await completedJob(await submit({ digestType: "sha-256", digestValue: value }));
    const url = `${content.url}/hello.txt`;
    const text = objectManifest([{ url, name: "hello.txt", digest: ["SHA-256", value] }]);
    await completedJob(await postForm(intake, { name: "o.checkm", text }, { type: "object-manifest" }));
  });
});

describe("a paused queue", () => {
  test("leaves a batch without jobs, until it goes on", async () => {
    expect(await setHold(operator.ctx, OPERATOR, { kind: "queue" })).toEqual({ kind: "applied" });
    await waitFor(async () => (await metric(intake, "sluice_stage_claims_closed", { reason: "queue-paused" })) > 0, {
      what: "an intake that knows of the pause",
    });
    const id = await submit({});
    expect(await readBatch(operator.session, id)).toMatchObject({
      value: { status: { status: "Pending" }, counts: { "batch-processing": 0 } },
    });
    expect(await releaseHold(operator.ctx, OPERATOR, { kind: "queue" })).toEqual({ kind: "applied" });
    const job = await completedJob(id);
    const history = [...readTransactions(zk.logDir)].filter(({ kind }) => kind === "write");
    const at = (op: string, path: string): number =>
      history.findLastIndex(({ ops }) => ops.some((each) => each.op === op && each.path === path));
    expect(at("delete", "/locks/queue/ingest")).toBeGreaterThan(0);
    expect(at("create", `/jobs/${job.id}`)).toBeGreaterThan(at("delete", "/locks/queue/ingest"));
  });
});

describe("a file that is not there", () => {
  test.each(["Downloading", "Estimating"] as const)(
    "does not fail the estimate but the download; resumed at %s, the job completes",
    async (stage) => {
      const path = `/late-${stage}.txt`;
      const text = batchManifest([{ url: `${content.url}${path}`, name: "late.txt" }]);
      const id = await postForm(intake, { name: "b.checkm", text }, { type: "single-file-batch-manifest" });
      expect(await reported(id)).toBe("Failed");
      const [failed] = (await listBucket(operator.session, id, "batch-failed")) ?? [];
      const { status } = await jobOf(failed!);
      expect(status).toMatchObject({ status: "Failed", last_successful_status: "Provisioning", retry_count: 0 });
      expect(status.message).toMatch(/^DOWNLOAD_FAILED: .*404/);
      site.set(path, "here at last");
      const resumed = await resumeJob(operator.ctx, OPERATOR, failed!, ...(stage === "Downloading" ? [] : [stage]));
      expect(resumed).toEqual({ kind: "applied" });
      await waitFor(async () => (await jobOf(failed!)).status.status === "Completed", { what: "the resumed job" });
      expect((await jobOf(failed!)).status.retry_count).toBe(1);
    },
  );
});

describe("a completed job of a single file", () => {
  test("has its seven system files", async () => {
    const job = await completedJob(await submit({}));
    expect(await storedPaths(job)).toEqual([
      "producer/hello.txt",
      "system/mrt-dc.xml",
      "system/mrt-erc.txt",
      "system/mrt-ingest.txt",
      "system/mrt-manifest.txt",
      "system/mrt-membership.txt",
      "system/mrt-mom.txt",
      "system/mrt-owner.txt",
    ]);
  });
});

describe("an object of another collection", () => {
  const hers = { ark: "ark:/99999/fk4hers", localId: "her shelf", title: "Her secret title" };

  /** The mails and messages of a batch that must fail for it, and only for it. */
  async function refusedBatch(id: BatchId): Promise<string> {
    expect(await reported(id)).toBe("Failed");
    const [failed] = (await listBucket(operator.session, id, "batch-failed")) ?? [];
    const { status, identifiers } = await jobOf(failed!);
    expect(status.message).toMatch(/^COLLECTION_MISMATCH: /);
    return JSON.stringify([status, identifiers, await readMail(fleet.dataDir, `${id}.1.eml`)]);
  }

  test("is neither changed nor shown, however it is named", async () => {
    const { ark: primaryIdentifier, localId: localIdentifier, title } = hers;
    const job = await completedJob(await submit({ primaryIdentifier, localIdentifier, title }, "hers"));
    const object = new URL("../inventory.json", job.inventory!.manifest_url);
    const before = await readFile(object, "utf8");
    const profile = OTHER_PROFILE;
    const url = `${content.url}/hello.txt`;
    site.set("/hers/mrt-erc.txt", `erc:\nwho: Eve\nwhere: ${hers.ark}\n`);
    site.set("/hers/mrt-delete.txt", "hello.txt\n");
    const files = ["mrt-erc.txt", "mrt-delete.txt"].map((name) => ({ url: `${content.url}/hers/${name}`, name }));
    const row = batchManifest([{ url, name: "hello.txt", primaryId: hers.ark }]);
    const told = await Promise.all([
      submit({ profile, primaryIdentifier }).then(refusedBatch),
      submit({ profile, localIdentifier }).then(refusedBatch),
      fleet.submit(intake, { profile, payload_url: url, type: "file", primary_id: hers.ark }).then(refusedBatch),
      postForm(intake, { name: "b.checkm", text: row }, { profile, type: "single-file-batch-manifest" }).then(
        refusedBatch,
      ),
      postForm(
        intake,
        { name: "object.checkm", text: objectManifest(files) },
        { profile, type: "object-manifest" },
        "update",
      ).then(refusedBatch),
    ]);
    expect(await readFile(object, "utf8")).toBe(before);
    expect(told.filter((text) => text.includes(hers.title))).toEqual([]);
  });
});

describe("a locked collection", () => {
  const target = { kind: "collection", profile: PROFILE } as const;

  test("holds a job that is about to start; after unlock and release it completes", async () => {
    await intake.child.kill("SIGTERM");
    intake = await fleet.start("batch-intake", { FAILPOINTS: "batch-intake.afterPick=stop#1" });
    await untilReady(intake);
    // An intake that is stopped answers nothing: whoever submits hears of it afterwards.
    const submitting = submit({});
    await untilStopped(intake.child.pid, "an intake that has found the job");
    expect(await setHold(operator.ctx, OPERATOR, target)).toEqual({ kind: "applied" });
    await intake.child.kill("SIGCONT");
    const id = await submitting;
    const [job] = (await listBucket(operator.session, id, "batch-processing")) ?? [];
    await waitFor(async () => (await jobOf(job!)).status.status === "Held", { what: "a held job" });
    expect((await jobOf(job!)).status.last_successful_status).toBeNull();
    expect(await actOnJob(operator.ctx, OPERATOR, "release", job!)).toMatchObject({ kind: "refused" });
    await releaseHold(operator.ctx, OPERATOR, target);
    expect(await actOnJob(operator.ctx, OPERATOR, "release", job!)).toEqual({ kind: "applied" });
    expect((await completedJob(id)).id).toBe(job);
  });

  test("holds a batch; after unlock and release it completes", async () => {
    expect(await setHold(operator.ctx, OPERATOR, target)).toEqual({ kind: "applied" });
    const id = await submit({});
    const statusOf = async (): Promise<string> => {
      const view = await readBatch(operator.session, id);
      return view.kind === "found" ? view.value.status.status : view.kind;
    };
    await waitFor(async () => (await statusOf()) === "Held", { what: "a held batch" });
    expect(await actOnBatch(operator.ctx, OPERATOR, "release", id)).toMatchObject({ kind: "refused" });
    await releaseHold(operator.ctx, OPERATOR, target);
    expect(await actOnBatch(operator.ctx, OPERATOR, "release", id)).toEqual({ kind: "applied" });
    await completedJob(id);
  });
});

test("every invariant was kept at every zxid", () => {
  const checked = checkInvariants({ logDir: zk.logDir, root: "/" });
  expect(checked.violations.map(describeViolation)).toEqual([]);
});
