import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { paths, readJobs, releaseHold, setHold } from "@sluice/queue-core";
import { checkInvariants, describeViolation, testZooKeeper, waitFor } from "@sluice/testkit";
import {
  batchNow,
  expectedNames,
  folderOf,
  jobsOf,
  makeSite,
  manifestOf,
  payloadNamesOf,
  post,
  startIntake,
  type Site,
  untilBatch,
} from "./fleet-support.ts";
import { formOf } from "./http-support.ts";
import { fileBatchManifest, makeCleanups, objectManifest } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const CONTENT: Readonly<Record<string, string>> = {
  "/60.checkm": manifestOf(60),
  "/broken.checkm": fileBatchManifest(["http://content.example/a | | | | | a", "ftp://content.example/b | | | | | b"]),
  "/object.checkm": objectManifest(["http://content.example/a | | | | | a"]),
};

async function setup() {
  const zookeeper = await testZooKeeper();
  const site = await makeSite(cleanups, zookeeper, (req, res) => {
    const body = CONTENT[req.url ?? ""];
    res.writeHead(body === undefined ? 404 : 200).end(body);
  });
  const url = await startIntake(cleanups, await site.settings());
  return { zookeeper, site, url };
}

const BATCH = { profile: "demo_content", type: "single-file-batch-manifest" };
const OPERATOR = { name: "olga", reason: "maintenance" };

/** Until the intake has done all that is its own with so many jobs. */
async function untilEstimating(site: Site, count: number): Promise<readonly string[]> {
  return waitFor(
    async () => {
      const names = await site.operator.session.children(paths.queue("Estimating"));
      return names.ok && names.value.names.length === count && [...names.value.names].sort();
    },
    { what: `${count} jobs in Estimating` },
  );
}

describe("a batch through the intake", () => {
  test("of 60 rows becomes 60 jobs that wait for the estimator, and no invariant is broken on the way", async () => {
    const { zookeeper, site, url } = await setup();
    const { status, bid } = await post(url, { ...BATCH, payload_url: `${site.contentUrl}/60.checkm` });
    expect(status).toBe(202);
    const entries = await untilEstimating(site, 60);
    expect(entries.every((name) => name.startsWith("45-"))).toBe(true);
    const view = await untilBatch(site, bid, ({ expansion }) => expansion?.created === 60);
    expect(view).toMatchObject({ status: { status: "Processing" }, expansion: { rows: 60 } });
    const answer: unknown = await (await fetch(`${url}/v1/batches/${bid}`)).json();
    expect(answer).toMatchObject({ rows: 60, created: 60, counts: { processing: 60, failed: 0 } });
    const result = checkInvariants({ logDir: zookeeper.logDir, root: zookeeper.root });
    expect(result.violations.map(describeViolation)).toEqual([]);
  });

  test("keeps the order of its rows, and writes where each job works", async () => {
    const { site, url } = await setup();
    const { bid } = await post(url, { ...BATCH, payload_url: `${site.contentUrl}/60.checkm` });
    await untilEstimating(site, 60);
    expect(await payloadNamesOf(site, bid)).toEqual(expectedNames(60));
    const [first] = (await readJobs(site.operator.session, (await jobsOf(site, bid)).slice(0, 1))) ?? [];
    expect(first).toMatchObject({
      kind: "found",
      value: {
        configuration: {
          batch_id: bid,
          working_dir: expect.stringContaining(join("queue", folderOf(site, bid), "jid")),
          jobID: expect.stringMatching(/^jid-/),
        },
      },
    });
  });

  test("of a profile with a priority of its own gets that", async () => {
    const { site, url } = await setup();
    await post(url, { ...BATCH, profile: "urgent_content", payload_url: `${site.contentUrl}/60.checkm` });
    expect((await untilEstimating(site, 60)).every((name) => name.startsWith("02-"))).toBe(true);
  });

  test("with a corrupt manifest fails as a whole, names the row, and makes no job", async () => {
    const { site, url } = await setup();
    const { bid } = await post(url, { ...BATCH, payload_url: `${site.contentUrl}/broken.checkm` });
    const view = await untilBatch(site, bid, ({ status }) => status.status === "Failed");
    expect(view.status.message).toMatch(/^MANIFEST_CORRUPT: .*row 2/);
    expect(await jobsOf(site, bid)).toEqual([]);
  });

  test("of an uploaded file becomes one job, with the file in the batch's folder", async () => {
    const { site, url } = await setup();
    const response = await fetch(`${url}/poster/submit`, {
      method: "POST",
      body: formOf({ profile: "demo_content", responseForm: "json", localIdentifier: "l1;l1;l2" }),
    });
    const uuid = response.headers.get("bid") ?? "";
    await untilEstimating(site, 1);
    const { bid } = (await (await fetch(`${url}/v1/batches/${uuid}`)).json()) as { bid: string };
    expect(await readFile(join(site.root, "queue", folderOf(site, bid), "uploads", "object.txt"), "utf8")).toBe(
      "hello",
    );
  });

  test("of an object manifest becomes one job that keeps its manifest", async () => {
    const { site, url } = await setup();
    const { bid } = await post(url, { profile: "demo_content", payload_url: `${site.contentUrl}/object.checkm` });
    const [name = ""] = await untilEstimating(site, 1);
    const jid = name.slice(3);
    const [view] = (await readJobs(site.operator.session, await jobsOf(site, bid))) ?? [];
    const history = view?.kind === "found" ? view.value.history : null;
    expect(history?.files_epoch).toBe(site.operator.identity.epoch);
    const claim = `.claim-${history?.files_epoch}-${history?.files}`;
    const folder = join(site.root, "queue", folderOf(site, bid), jid, claim);
    expect(await readFile(join(folder, "manifest.checkm"), "utf8")).toBe(CONTENT["/object.checkm"]);
  });
});

describe("holds", () => {
  test("a batch of a held collection is parked and makes no job", async () => {
    const { site, url } = await setup();
    await setHold(site.operator.ctx, OPERATOR, { kind: "collection", profile: "demo_content" });
    const { bid } = await post(url, { ...BATCH, payload_url: `${site.contentUrl}/60.checkm` });
    const view = await untilBatch(site, bid, ({ status }) => status.status === "Held");
    expect(view.expansion).toBeNull();
  });

  test("a paused queue takes submissions, keeps them with no jobs, and goes on when it is resumed", async () => {
    const { site, url } = await setup();
    await setHold(site.operator.ctx, OPERATOR, { kind: "queue" });
    const { status, bid } = await post(url, { ...BATCH, payload_url: `${site.contentUrl}/60.checkm` });
    expect(status).toBe(202);
    expect(await batchNow(site, bid)).toMatchObject({ status: { status: "Pending" }, expansion: null });
    await releaseHold(site.operator.ctx, OPERATOR, { kind: "queue" });
    await untilEstimating(site, 60);
  });
});

describe("one key", () => {
  test("sent ten times at once to two intakes makes one batch", async () => {
    const { site, url } = await setup();
    const other = await startIntake(cleanups, await site.settings());
    const body = { ...BATCH, payload_url: `${site.contentUrl}/60.checkm` };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => post(i % 2 === 0 ? url : other, body, "the-key")),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ bid }) => bid)).size).toBe(1);
    await untilEstimating(site, 60);
  });
});
