/** Deposits for later, with real tokens at real servers: each run submits in its maker's name, while they still may. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Answer, Client } from "@sluice/client";
import { keepToken, parseBatchId, paths, records, revokeToken, type Submission } from "@sluice/queue-core";
import { type TestWorker, testWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { INTAKE, JOBS, type QueuedJobDetail } from "@sluice/wire";
import { mintToken, type TokenRecord } from "@sluice/access";
import { randomBytes } from "node:crypto";
import { PROFILE } from "../support/fleet.ts";
import { type ScheduleFleet, startScheduleFleet } from "../support/schedules.ts";

const SECRET_QUERY = "X-Amz-Signature=5ecret";
const URL_WITH_QUERY = `https://content.example/a.checkm?${SECRET_QUERY}`;
const EVERY_SECOND = "FINISHED, +1 SECOND";

let house: ScheduleFleet;
let watcher: TestWorker;
let staff: string;
beforeAll(async () => {
  const { connect } = await testZooKeeper();
  house = await startScheduleFleet({ zookeeper: connect });
  staff = await house.tokens.give({ name: "Vera", role: "viewer", collections: ["*"] });
  watcher = await testWorker(connect, "batch-intake", { register: false });
});
afterAll(async () => {
  await watcher.close();
  await house.stop();
});

function valueOf<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(JSON.stringify(answer));
  return answer.value;
}

const atIntake = (token: string): Client => house.at(house.intake, token);

async function schedule(token: string, more: object = {}): Promise<number> {
  const body = { profile: PROFILE, payload_url: URL_WITH_QUERY, repeat: EVERY_SECOND, ...more };
  return valueOf(await atIntake(token).call(INTAKE.submitBatch, { body })).job!;
}

/** As staff see it: its maker may not be able to look any more. */
const inQueue = async (id: number): Promise<QueuedJobDetail> => {
  const client = house.at(house.jobApi, staff);
  return valueOf(await client.call(JOBS.describeJob, { params: { tenant: "system", id } }));
};

type Run = QueuedJobDetail["runs"][number];

const aRun = (id: number, holds: (run: Run) => boolean): Promise<Run> =>
  waitFor(async () => (await inQueue(id)).runs.find(holds), { what: `a run of ${id}` });

/** As the queue's tree has them. */
async function submissions(): Promise<readonly Submission[]> {
  const names = await watcher.session.children(paths.batches);
  const ids = names.ok ? names.value.names.flatMap((name) => parseBatchId(name) ?? []) : [];
  const read = await Promise.all(ids.map((id) => watcher.session.get(paths.batchSubmission(id))));
  return read.flatMap((node) => {
    const record = node.ok ? records.submission.decode(node.value.data) : null;
    return record?.ok === true ? [record.value] : [];
  });
}
const by = async (name: string): Promise<readonly Submission[]> =>
  (await submissions()).filter((each) => each["submitted_by"] === name);

const wentWell = ({ exit }: Run): boolean => exit === 200;
const wasRefused = ({ exit }: Run): boolean => exit === 410;

/** Every run of it that went well made one batch, and no other run made one. */
async function expectNoMore(name: string, id: number): Promise<void> {
  const { runs } = await inQueue(id);
  const refusedAt = runs.findIndex(wasRefused);
  expect(refusedAt).toBeGreaterThanOrEqual(0);
  expect(runs.filter(wasRefused)).toHaveLength(1);
  expect(await by(name)).toHaveLength(runs.filter(wentWell).length);
}

describe("a deposit for later", () => {
  test("submits in its maker's name, and tells whom its maker may have told", async () => {
    const token = await house.tokens.give({ name: "ada@example.org" });
    const id = await schedule(token, { notification: "ada@example.org" });
    await aRun(id, wentWell);
    // An intake that has just started accepts into its journal; the batch stands in the tree soon after.
    const first = await waitFor(async () => (await by("ada@example.org"))[0], { what: "a batch of ada's" });
    expect(first).toMatchObject({
      submitter: "ada@example.org",
      notification: "ada@example.org",
      payload_url: URL_WITH_QUERY,
    });
    // Also while it runs.
    valueOf(await atIntake(token).call(INTAKE.cancelSchedule, { params: { id } }));
    await waitFor(async () => {
      const left = valueOf(await atIntake(token).call(INTAKE.listSchedules, {}));
      return left.items.every((each) => each.id !== id);
    });
  });

  test("whose maker's token is revoked in the tree submits no more, and says why", async () => {
    const { id: tokenId, token, hash } = mintToken(randomBytes);
    const operator = { name: "root", reason: "a test" };
    const times = { created: "", created_by: "root", expires: "2099-01-01T00:00:00Z" };
    const record = { id: tokenId, name: "Berta", role: "depositor", collections: [PROFILE], hash, ...times };
    expect(await keepToken(watcher.ctx, operator, record)).toEqual({ kind: "applied" });
    const id = await schedule(token);
    await aRun(id, wentWell);
    expect(await revokeToken(watcher.ctx, operator, tokenId)).toEqual({ kind: "applied" });
    const refused = await aRun(id, wasRefused);
    expect(refused.result).toContain("Berta made this schedule: their token was revoked");
    await expectNoMore("Berta", id);
    // It has ended, and stays in sight.
    expect(await inQueue(id)).toMatchObject({ state: "FAILED" });
  });

  test.each<readonly [string, Partial<TokenRecord>, string]>([
    ["is for other collections now", { collections: ["other_content"] }, `Carla may no longer submit to ${PROFILE}`],
    ["has another role now", { role: "viewer" }, "a viewer may not submit deposits"],
    ["has expired", { expires: "2026-01-02T00:00:00Z" }, "their token expired at 2026-01-02T00:00:00Z"],
  ])("whose maker's token %s submits no more, and says why", async (_, changed, why) => {
    const name = "Carla";
    const token = await house.tokens.give({ name });
    const id = await schedule(token);
    await aRun(id, wentWell);
    await house.tokens.change(name, changed);
    expect((await aRun(id, wasRefused)).result).toContain(why);
    await house.tokens.revoke(name);
  });
});

test("services whose tokens are replaced go on without a restart", async () => {
  const token = await house.tokens.give({ name: "Emma" });
  const id = await schedule(token);
  await aRun(id, wentWell);
  for (const role of ["scheduler", "runner", "maintainer"] as const) await house.rotate(role);
  // The intake asks the job-api with the new one, …
  const later = await schedule(token);
  // … and the runner takes jobs and has them submitted.
  await aRun(later, wentWell);
  const { last_runs: seen } = valueOf(await atIntake(token).call(INTAKE.getSchedule, { params: { id: later } }));
  expect(seen.map(({ exit }) => exit)).toContain(200);
});

describe("jobs of the fleet are shown without queries of URLs and mail addresses", () => {
  const ADDRESS = "depositor@example.org";
  let id: number;
  let root: string;
  beforeAll(async () => {
    root = await house.tokens.give({ name: "Rita", role: "admin", collections: ["*"] });
    const token = await house.tokens.give({ name: "Fred" });
    id = await schedule(token, { notification: ADDRESS, repeat: "FINISHED, +1 DAY" });
    await aRun(id, wentWell);
  });
  const expectNothing = (where: string, text: string): void =>
    expect([where, text.includes(SECRET_QUERY), text.includes(ADDRESS)]).toEqual([where, false, false]);

  test("by everything that the job-api answers to who looks, but to who made them", async () => {
    const { url } = house.jobApi;
    const headers = { authorization: `Bearer ${root}` };
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
    const looks = Object.entries(document.paths).flatMap(([path, methods]) => ("get" in methods ? [path] : []));
    const sealed = "/v1/tenants/{tenant}/jobs/{id}/sealed";
    const answered: string[] = [];
    for (const path of looks.filter((each) => each !== sealed)) {
      const filled = path.replace(/\{(tenant|client)\}/, "system").replace("{id}", String(id));
      const query = path.startsWith("/v2/") ? "?tenant=system" : "";
      const response = await fetch(`${url}${filled.replaceAll(/\{\w+\}/g, "x")}${query}`, { headers });
      expectNothing(path, await response.text());
      if (response.ok) answered.push(path);
    }
    expect(answered).toEqual(
      expect.arrayContaining([
        ...["/v1/tenants/{tenant}/jobs", "/v1/tenants/{tenant}/jobs/{id}", "/v1/tenants/{tenant}/jobs/{id}/result"],
        ...["/v1/tenants/{tenant}/runs", "/v2/keys/jobs"],
      ]),
    );
    // It is there, for the intake alone.
    const kept = await fetch(`${url}${sealed.replace("{tenant}", "system").replace("{id}", String(id))}`, { headers });
    expect(await kept.text()).toContain(SECRET_QUERY);
  });

  test("by commands", async () => {
    for (const verb of ["QueryJob", "GetJob"]) {
      const response = await fetch(`${house.jobApi.url}/v1/tenants/system/commands/${verb}`, {
        method: "POST",
        headers: { authorization: `Bearer ${staff}`, "content-type": "application/json" },
        body: JSON.stringify(verb === "QueryJob" ? { jobID: id } : { name: "fleet/deposit/*" }),
      });
      expectNothing(verb, await response.text());
    }
  });

  test("in the logs of all who have to do with them", async () => {
    for (const service of [house.jobApi, house.intake, house.runner]) {
      const log = await service.log();
      expect(log).toContain(`"service":"${service.service}"`);
      expectNothing(service.service, log);
    }
  });
});
