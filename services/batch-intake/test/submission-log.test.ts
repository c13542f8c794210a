/** Whoever asks at night what became of a submission begins with its first line. */
import { afterEach, expect, test } from "@jest/globals";
import { batchUuidFromKey } from "@sluice/queue-core";
import { formOf, startApp } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const GOOD = { profile: "demo_content", payload_url: "https://content.example/a.txt?sig=secret", title: "Notes" };
const UUID = batchUuidFromKey("anonymous", "k1");
const requestIdOf = (response: Response): string => response.headers.get("x-request-id") ?? "none";

async function openApp() {
  const app = await startApp(cleanups);
  const logged = (): Record<string, unknown>[] =>
    app.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => String(msg).startsWith("submission "));
  return { ...app, logged };
}

test("names the batch, the caller, the request and the trace, however it came", async () => {
  const { postJson, postForm, logged, lines } = await openApp();
  const json = await postJson(GOOD, { "idempotency-key": "k1" });
  const form = await postForm(formOf({ profile: "demo_content" }));
  const { bid } = (await json.json()) as { bid: string };
  const accepted = {
    level: "info",
    msg: "submission accepted",
    caller: "anonymous",
    profile: "demo_content",
    place: "queue",
    replayed: false,
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
  };
  expect(logged()).toMatchObject([
    { ...accepted, batch_uuid: UUID, batch_id: bid, request_id: requestIdOf(json) },
    { ...accepted, request_id: requestIdOf(form) },
  ]);
  expect(lines.join("")).not.toContain("secret");
});

test("says that it waits in the journal, under the name by which it is found when it comes to the queue", async () => {
  const { postJson, queue, logged } = await openApp();
  queue.mood = "away";
  await postJson(GOOD, { "idempotency-key": "k1" });
  expect(logged()).toMatchObject([{ msg: "submission accepted", batch_uuid: UUID, place: "journal" }]);
  expect(logged()[0]).not.toHaveProperty("batch_id");
});

test("says why it was refused, and not what its fields hold", async () => {
  const { postJson, logged, lines } = await openApp();
  await postJson(GOOD, { "idempotency-key": "k1" });
  await postJson({ ...GOOD, title: "another" }, { "idempotency-key": "k1" });
  await postJson({ ...GOOD, profile: "demo_content", digest_type: "sha-256", digest_value: "hidden" });
  expect(logged().slice(1)).toMatchObject([
    { msg: "submission refused", why: "the same key was used for another request", batch_uuid: UUID },
    { msg: "submission refused", why: "wrong fields", fields: ["digest_value"] },
  ]);
  expect(lines.join("")).not.toContain("hidden");
});
