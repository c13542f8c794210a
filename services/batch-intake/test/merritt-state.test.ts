/** What Merritt's monitors and its admin tool ask an ingest service. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ANYBODY, type Caller } from "@sluice/access";
import { paths } from "@sluice/queue-core";
import { aBatchOfJobs, aSubmission, cdlWriter, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { openMerritt } from "../src/http/merritt/open-merritt.ts";
import { openReading } from "../src/http/reading/open-reading.ts";
import { makeApp } from "../src/http/app.ts";
import { listen } from "@sluice/http-api";
import { startApp } from "./http-support.ts";
import { makeCleanups, PROFILE, profileOf } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

let connect: string;
let worker: TestWorker;
/** Who shows a token; null: nobody. */
let caller: Caller | null;
let nowMs: number;
let base: string;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  worker = await testWorker(connect, "batch-intake");
  cleanups.add(() => worker.close());
  caller = ANYBODY;
  nowMs = Date.now();
  const { deps } = await startApp(cleanups);
  const authenticator = {
    authenticate: () =>
      Promise.resolve(
        caller === null ? ({ kind: "refused", why: "no token" } as const) : ({ kind: "caller", caller } as const),
      ),
  };
  const profile = { ...PROFILE, profileId: "sluice_demo_content", notificationTo: ["ada@example.org"], storageNode: 7 };
  const store = { names: () => [profile.profileId], get: profileOf(profile) };
  const open = { context: worker.ctx, identity: worker.identity };
  const reading = openReading({
    queue: () => worker.ctx,
    archive: null,
    backlog: { find: () => Promise.resolve(null), refusals: () => [] },
  });
  const merritt = openMerritt({ queue: () => open, profiles: store, nowMs: () => nowMs });
  const app = makeApp({ ...deps, reading, merritt, wall: { ...deps.wall, authenticator } });
  const listening = await listen(app, { port: 0, onClose: () => reading.streams.close() });
  if (!listening.ok) throw new Error(listening.message);
  cleanups.add(() => listening.server.close(0));
  base = listening.server.url;
});

type State = Record<string, Record<string, unknown>>;
const get = async (path: string): Promise<State> => {
  const response = await fetch(`${base}${path}`);
  expect(response.status).toBe(200);
  return (await response.json()) as State;
};
const statusOf = async (path: string, method = "GET") => (await fetch(`${base}${path}`, { method })).status;

describe("the state, which monitors ask for without a token", () => {
  beforeEach(() => {
    caller = null;
  });

  test.each(["/state", "/help", "/poster/state"])("%s says whether submissions are worked on", async (path) => {
    const { "ing:ingestServiceState": state } = await get(`${path}?t=json`);
    expect(state).toEqual({
      "ing:serviceName": "Sluice",
      "ing:serviceID": worker.identity.fleet,
      "ing:serviceVersion": "1.2.3",
      "ing:serviceStartTime": expect.any(String),
      "ing:submissionState": "thawed",
    });
  });

  test("follows a pause that Merritt's own tools make, within a second", async () => {
    const cdl = await cdlWriter(connect);
    cleanups.add(() => cdl.close());
    const frozen = async () => (await get("/state?t=json"))["ing:ingestServiceState"]!["ing:submissionState"];
    expect(await frozen()).toBe("thawed");
    await cdl.put(paths.queuePause);
    await cdl.put(paths.collectionHold("secret_content"));
    nowMs += 1_000;
    expect(await frozen()).toBe("frozen");
    expect(JSON.stringify(await get("/state?t=json"))).not.toContain("secret");
  });

  test("is XML unless JSON is asked for, and all else needs a token", async () => {
    const response = await fetch(`${base}/state`);
    expect(response.headers.get("content-type")).toContain("application/xml");
    expect(await response.text()).toContain("<ing:submissionState>thawed</ing:submissionState>");
    for (const path of ["/admin/state", "/admin/profiles", "/admin/bids/7"]) expect(await statusOf(path)).toBe(401);
  });

  test("is unknown while ZooKeeper does not answer", async () => {
    await worker.close();
    nowMs += 1_000;
    expect((await get("/state?t=json"))["ing:ingestServiceState"]!["ing:submissionState"]).toBe("unknown");
  });
});

describe("the admin tool", () => {
  test("freezes and thaws the queue and single collections, and is told the new state", async () => {
    const order = async (path: string) => {
      const response = await fetch(`${base}${path}`, { method: "POST" });
      return ((await response.json()) as State)["ing:ingestServiceState"];
    };
    expect(await order("/admin/submissions/freeze")).toMatchObject({ "ing:submissionState": "frozen" });
    expect(await order("/admin/submissions/freeze")).toMatchObject({ "ing:submissionState": "frozen" });
    expect(await order("/admin/submissions/thaw")).toMatchObject({ "ing:submissionState": "thawed" });
    const held = await order("/admin/submission/freeze/sluice_demo_content");
    expect(held).toMatchObject({
      "ing:collectionSubmissionState": "sluice_demo_content",
      "ing:submissionState": "thawed",
    });
    expect(await order("/admin/submission/thaw/sluice_demo_content")).toMatchObject({
      "ing:collectionSubmissionState": "",
    });
    const records = await worker.session.children(paths.auditRecords);
    expect(records).toMatchObject({ value: { stat: { numChildren: 4 } } });
  });

  test("lists the profiles, and shows one without secrets", async () => {
    expect(await get("/admin/profiles")).toEqual({
      "pros:profilesState": {
        "pros:profiles": {
          "pros:profileFile": {
            "pros:file": "sluice_demo_content",
            "pros:description": PROFILE.description,
            "pros:modificationDate": "",
          },
        },
      },
    });
    const { "pro:profileState": one } = await get("/admin/profile/sluice_demo_content");
    expect(one).toMatchObject({
      "pro:profileID": "sluice_demo_content",
      "pro:targetStorage": { "pro:nodeID": 7 },
      "pro:contactsEmail": { "pro:notification": { "pro:contactEmail": "ada@example.org" } },
    });
    const { "prosf:profilesFullState": all } = await get("/admin/profiles-full");
    expect(all).toMatchObject({
      "prosf:profilesFull": { "prosf:profileState": { "prosf:profileID": "sluice_demo_content" } },
    });
    expect(await statusOf("/admin/profile/other_content")).toBe(404);
  });

  test("lists the batches of the last days and the jobs of one, of the caller's collections", async () => {
    const mine = await aBatchOfJobs(worker, 2);
    await aBatchOfJobs(worker, 1, aSubmission({ profile_name: "other_content" }));
    caller = { ...ANYBODY, scope: ["sluice_demo_content"] };
    const { "fil:batchFileState": batches } = await get("/admin/bids/7");
    expect(batches).toMatchObject({
      "fil:jobFile": { "fil:batchFile": { "fil:file": expect.stringMatching(/^bid-/) } },
    });
    const { "fil:batchFileState": jobs } = await get(`/admin/bid/${mine.batch}`);
    expect((jobs!["fil:jobFile"] as State)["fil:batchFile"]).toMatchObject([
      { "fil:file": expect.stringMatching(/^jid-/), "fil:fileDate": expect.any(String) },
      {},
    ]);
    expect(await statusOf("/admin/bid/bid0000009999/3")).toBe(404);
    expect(await statusOf("/admin/bids/soon")).toBe(400);
  });
});
