/** The HTTP side while ZooKeeper is away: submissions are journaled, and answered as ever. */
import { afterEach, expect, test } from "@jest/globals";
import { batchUuidFromKey } from "@sluice/queue-core";
import { decodeEntry } from "../src/journal/entry.ts";
import { formOf, problemOf, startApp } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const GOOD = { profile: "demo_content", payload_url: "https://content.example/a.txt?sig=secret", title: "Notes" };

async function awayApp(maxRecords?: number) {
  const app = await startApp(cleanups, 1_000_000, maxRecords);
  app.queue.mood = "away";
  const waiting = async () => {
    const records = await Promise.all(app.journal.waiting().map((number) => app.journal.read(number)));
    return records.map((record) => (record.kind === "record" ? decodeEntry(record.data) : null));
  };
  return { ...app, waiting };
}

test("a submission is answered 202 with its id and place, once it is in the journal", async () => {
  const { postJson, waiting } = await awayApp();
  const response = await postJson(GOOD, { "idempotency-key": "k1" });
  const uuid = batchUuidFromKey("anonymous", "k1");
  expect(response.status).toBe(202);
  expect(await response.json()).toEqual({ id: uuid, bid: null, url: `/v1/batches/${uuid}` });
  expect(await waiting()).toMatchObject([
    { uuid, upload: null, submission: { payload_url: GOOD.payload_url, request_digest: expect.any(String) } },
  ]);
});

test("it can be asked for where the answer says, and shows no signed query", async () => {
  const { postJson, base } = await awayApp();
  const { id, url } = (await (await postJson(GOOD)).json()) as { id: string; url: string };
  const response = await fetch(base + url);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    id,
    bid: null,
    status: "Accepted",
    profile: "demo_content",
    title: "Notes",
    payload_url: expect.not.stringContaining("secret"),
  });
});

test("the same key again has the same answer, another request under it is refused", async () => {
  const { postJson, journal } = await awayApp();
  const key = { "idempotency-key": "k1" };
  const first = await postJson(GOOD, key);
  const second = await postJson(GOOD, key);
  const other = await postJson({ ...GOOD, title: "another" }, key);
  expect([first.status, second.status, other.status]).toEqual([202, 202, 422]);
  expect(await second.json()).toEqual(await first.json());
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect((await problemOf(other)).code).toBe("IDEMPOTENCY_KEY_REUSED");
  expect(journal.stats().records).toBe(1);
});

test("one key a hundred times at once, with uploads, is one record and one folder", async () => {
  const { postForm, waiting } = await awayApp();
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => postForm(formOf({ profile: "demo_content" }), { "idempotency-key": "k1" })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1);
  expect(await waiting()).toMatchObject([{ upload: { kind: "kept" } }]);
});

test("nothing overtakes what waits: while there is a backlog, submissions go behind it", async () => {
  const { queue, postJson, journal } = await awayApp();
  await postJson(GOOD);
  queue.mood = "fine";
  expect(await (await postJson(GOOD)).json()).toMatchObject({ bid: null });
  expect([journal.stats().records, queue.created.size]).toEqual([2, 0]);
});

test("at the bound the answer is 503 with Retry-After, and what is there stays", async () => {
  const { postJson, journal } = await awayApp(2);
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await postJson(GOOD)).status);
  expect(statuses).toEqual([202, 202, 503]);
  const response = await postJson(GOOD);
  expect(response.headers.get("retry-after")).toBe("15");
  expect(await problemOf(response)).toMatchObject({ code: "UNAVAILABLE", detail: expect.stringContaining("full") });
  expect(journal.stats()).toMatchObject({ records: 2, full: true });
});

test("a journal that cannot be written is not called safe", async () => {
  const { postJson, journal } = await awayApp();
  await journal.close();
  expect((await postJson(GOOD)).status).toBe(503);
});
