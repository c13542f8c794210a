import { afterEach, describe, expect, test } from "@jest/globals";
import { type BatchView, batchUuidFromKey, jobUuid, type JobView } from "@sluice/queue-core";
import { fieldsOf, problemOf, startApp } from "./http-support.ts";
import { BID, batch, job, JID, makeCleanups, submission } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const GOOD = { profile: "demo_content", payload_url: "https://content.example/a%20b.txt?sig=secret" };

describe("POST /v1/batches", () => {
  test("answers 202 with both ids and the place to look, once the batch stands in the queue", async () => {
    const { queue, postJson } = await startApp(cleanups);
    const response = await postJson(GOOD);
    const body = (await response.json()) as { id: string; bid: string; url: string };
    expect(response.status).toBe(202);
    expect(body).toEqual({
      id: expect.stringMatching(/^bid-[0-9a-f-]{36}$/),
      bid: "bid0000000100",
      url: `/v1/batches/${body.id}`,
    });
    expect(response.headers.get("location")).toBe(body.url);
    expect([...queue.created.keys()]).toEqual([body.id]);
  });

  test("writes down what was asked for, under the queue's names", async () => {
    const { queue, postJson } = await startApp(cleanups);
    await postJson({
      ...GOOD,
      submitter: "ada",
      type: "single-file-batch-manifest",
      digest_type: "SHA-256",
      digest_value: "AB".repeat(32),
      title: "Notes",
      creator: "Ada Lovelace",
      date: "1843",
      local_id: "one; two;one",
      primary_id: "ark:99999/fk4abc",
      notification: "ada@example.org; charles@example.org",
      payload_size: 12,
    });
    expect([...queue.created.values()][0]!.submission).toMatchObject({
      profile_name: "demo_content",
      submitter: "ada",
      payload_url: GOOD.payload_url,
      payload_name: "a b.txt",
      payload_size: 12,
      type: "single-file-batch-manifest",
      submission_mode: "add",
      digest_type: "sha256",
      digest_value: "ab".repeat(32),
      erc_what: "Notes",
      erc_who: "Ada Lovelace",
      erc_when: "1843",
      local_id: ["one", "two"],
      primary_id: "ark:/99999/fk4abc",
      notification: "ada@example.org,charles@example.org",
      submission_date: "2026-01-02 03:04:05 +0000",
      request_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("leaves the type open when it is not given and the name does not tell", async () => {
    const { queue, postJson } = await startApp(cleanups);
    await postJson(GOOD);
    expect([...queue.created.values()][0]!.submission.type).toBe("");
  });

  test("knows a container by its name", async () => {
    const { queue, postJson } = await startApp(cleanups);
    await postJson({ ...GOOD, payload_url: "https://content.example/a.tar.gz" });
    expect([...queue.created.values()][0]!.submission.type).toBe("container");
  });

  test("names every field that is not right, at once", async () => {
    const { queue, postJson } = await startApp(cleanups);
    const response = await postJson({
      profile: "lost_content",
      payload_url: "ftp://content.example/a",
      type: "sculpture",
      digest_type: "md5",
      digest_value: "xyz",
      primary_id: "doi:10.1/2",
      notification: "not an address",
      title: "two\r\nlines",
    });
    const problem = await problemOf(response);
    expect(response.status).toBe(400);
    expect(fieldsOf(problem).sort()).toEqual(
      ["/digest_value", "/notification", "/payload_url", "/primary_id", "/profile", "/title", "/type"].sort(),
    );
    expect(queue.created.size).toBe(0);
  });

  test.each([
    ["a profile that is missing", { payload_url: GOOD.payload_url }, "/profile"],
    ["a field that we do not know", { ...GOOD, colour: "blue" }, "/colour"],
    ["a URL with a password", { ...GOOD, payload_url: "https://ada:secret@content.example/a" }, "/payload_url"],
    ["a URL that is none", { ...GOOD, payload_url: "content.example" }, "/payload_url"],
    ["a digest without its type", { ...GOOD, digest_value: "ab" }, "/digest_type"],
    ["a digest that nobody computes", { ...GOOD, digest_type: "md2", digest_value: "ab" }, "/digest_type"],
    ["a payload name with folders", { ...GOOD, payload_name: "../a" }, "/payload_name"],
    ["a text far too long", { ...GOOD, title: "x".repeat(4_000) }, "/title"],
    [
      "far too much in all",
      { ...GOOD, local_id: Array.from({ length: 30 }, (_, i) => `${i}${"x".repeat(3_000)}`) },
      "",
    ],
    ["somebody whom the profile does not know", { ...GOOD, notification: "eve@evil.example" }, "/notification"],
    [
      "somebody among those whom it knows",
      { ...GOOD, notification: "ada@example.org,eve@evil.example" },
      "/notification",
    ],
    [
      "whoever is called the submitter",
      { ...GOOD, submitter: "eve@evil.example", notification: "eve@evil.example" },
      "/notification",
    ],
    ["a number where a text belongs", { ...GOOD, title: 7 }, "/title"],
  ])("refuses %s and names it", async (_what, body, field) => {
    const { postJson } = await startApp(cleanups);
    const response = await postJson(body);
    expect(response.status).toBe(400);
    expect(fieldsOf(await problemOf(response))).toEqual([field]);
  });

  test.each([
    ["no JSON", "{", 400],
    ["JSON that is no object", "[]", 400],
    ["far too much", JSON.stringify({ title: "x".repeat(17_000_000) }), 413],
  ])("refuses a body that is %s", async (_what, body, status) => {
    const { postJson } = await startApp(cleanups);
    const response = await postJson(body);
    expect(response.status).toBe(status);
    await problemOf(response);
  });

  test("refuses what a page of another site makes a browser send", async () => {
    const { postJson, queue } = await startApp(cleanups);
    expect((await postJson(GOOD, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect(queue.created.size).toBe(0);
  });

  test("refuses a body that is not called JSON", async () => {
    const { postJson } = await startApp(cleanups);
    expect((await postJson(GOOD, { "content-type": "text/plain" })).status).toBe(415);
  });
});

describe("an Idempotency-Key", () => {
  test("makes one batch of a request that is repeated, with the same answer", async () => {
    const { queue, postJson } = await startApp(cleanups);
    const first = await postJson(GOOD, { "idempotency-key": "k1" });
    const second = await postJson(GOOD, { "idempotency-key": '"k1"' });
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(await second.json()).toEqual(await first.json());
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect([...queue.created.keys()]).toEqual([batchUuidFromKey("anonymous", "k1")]);
  });

  test("with another request under it is refused", async () => {
    const { queue, postJson } = await startApp(cleanups);
    await postJson(GOOD, { "idempotency-key": "k1" });
    const response = await postJson({ ...GOOD, title: "another" }, { "idempotency-key": "k1" });
    expect(response.status).toBe(422);
    expect((await problemOf(response)).code).toBe("IDEMPOTENCY_KEY_REUSED");
    expect(queue.created.size).toBe(1);
  });

  test("makes a second try after a lost answer find the batch of the first", async () => {
    const { queue, postJson } = await startApp(cleanups);
    queue.mood = "answer-lost";
    const first = await postJson(GOOD, { "idempotency-key": "k1" });
    queue.mood = "fine";
    const second = await postJson(GOOD, { "idempotency-key": "k1" });
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await second.json()).toEqual(await first.json());
    expect(queue.created.size).toBe(1);
  });

  test("that is too long is refused", async () => {
    const { postJson } = await startApp(cleanups);
    const response = await postJson(GOOD, { "idempotency-key": "k".repeat(256) });
    expect(fieldsOf(await problemOf(response))).toEqual(["Idempotency-Key"]);
  });
});

describe("without ZooKeeper", () => {
  test("a question is answered by 503 and when to ask again", async () => {
    const app = await startApp(cleanups);
    app.queue.mood = "away";
    const response = await fetch(`${app.base}/v1/batches/${BID}`);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("15");
    expect((await problemOf(response)).code).toBe("UNAVAILABLE");
  });
});

const BATCH_VIEW: BatchView = {
  id: BID,
  status: { ...batch().status, status: "Processing", last_modified: "2026-01-02 03:04:05 +0000" },
  submission: submission({ payload_url: "https://content.example/list?sig=secret", erc_what: "Notes" }),
  expansion: { rows: 60, created: 50, digest: "d", reports: 0, op: "op" },
  report: null,
  counts: { "batch-processing": 40, "batch-failed": 1, "batch-completed": 8, "batch-deleted": 1 },
};

describe("GET /v1/batches/{id}", () => {
  test("shows rows, created jobs and counts by bucket, and no signed query", async () => {
    const { base, queue } = await startApp(cleanups);
    queue.batches.set(BID, BATCH_VIEW);
    const response = await fetch(`${base}/v1/batches/${BID}`);
    expect(await response.json()).toMatchObject({
      id: BATCH_VIEW.submission.batchID,
      bid: BID,
      status: "Processing",
      last_modified: "2026-01-02T03:04:05.000Z",
      profile: "demo_content",
      payload_url: expect.not.stringContaining("secret"),
      title: "Notes",
      rows: 60,
      created: 50,
      counts: { processing: 40, failed: 1, completed: 8, deleted: 1 },
    });
  });

  test("finds the batch by its UUID too", async () => {
    const { base, queue, postJson } = await startApp(cleanups);
    const { id, bid } = (await (await postJson(GOOD)).json()) as { id: string; bid: typeof BID };
    queue.batches.set(bid, { ...BATCH_VIEW, id: bid });
    expect(await (await fetch(`${base}/v1/batches/${id}`)).json()).toMatchObject({ bid });
  });

  test.each([
    ["bid0000009999", 404],
    ["bid-00000000-0000-4000-8000-000000000009", 404],
    ["..%2f..%2fjobs", 400],
    ["nonsense", 400],
  ])("answers a question for %s with %i", async (id, status) => {
    const { base } = await startApp(cleanups);
    const response = await fetch(`${base}/v1/batches/${id}`);
    expect(response.status).toBe(status);
    await problemOf(response);
  });
});

describe("GET /v1/jobs/{id}", () => {
  const { configuration } = job({ payload_url: "https://content.example/a?sig=secret", jobID: jobUuid(JID, "fleet") });
  const view: JobView = {
    id: JID,
    batchId: BID,
    status: {
      status: "Failed",
      last_modified: "",
      last_successful_status: "Estimating",
      retry_count: 2,
      message: "no",
    },
    configuration,
    identifiers: { primary_id: "ark:/99999/fk4a", local_id: ["one"] },
    metadata: null,
    inventory: null,
    priority: 5,
    spaceNeeded: 12,
    history: null,
    lock: null,
  };

  test.each([JID, jobUuid(JID, "fleet")])("finds the job as %s", async (id) => {
    const { base, queue } = await startApp(cleanups);
    queue.jobs.set(JID, view);
    expect(await (await fetch(`${base}/v1/jobs/${id}`)).json()).toMatchObject({
      id: jobUuid(JID, "fleet"),
      jid: JID,
      bid: BID,
      status: "Failed",
      last_successful_status: "Estimating",
      retry_count: 2,
      message: "no",
      payload_url: expect.not.stringContaining("secret"),
      primary_id: "ark:/99999/fk4a",
    });
  });

  test("answers 404 for a job that is not there", async () => {
    const { base } = await startApp(cleanups);
    expect((await fetch(`${base}/v1/jobs/jid0000009999`)).status).toBe(404);
  });
});

test("anything else is not there, as a problem document", async () => {
  const { base } = await startApp(cleanups);
  const response = await fetch(`${base}/nothing`);
  expect((await problemOf(response)).code).toBe("NOT_FOUND");
});
