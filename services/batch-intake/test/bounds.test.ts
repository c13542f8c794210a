/** What one depositor and one collection may take of what is everybody's. */
import { request as ask } from "node:http";

import { afterEach, describe, expect, test } from "@jest/globals";
import { OBJECTS_MAX } from "@sluice/wire";
import { bytesOf, NOTHING, sumOf } from "../src/quota/in-progress.ts";
import { limitsOf } from "../src/quota/open-quotas.ts";
import { LOOK_MS, type OverQuota, type QuotaLimits, Quotas } from "../src/quota/quotas.ts";
import { loadConfig } from "../src/config.ts";
import { aToken, wallFor } from "./access-support.ts";
import { formOf, problemOf, startApp } from "./http-support.ts";
import { batch, makeCleanups, PROFILE, profileOf, submission } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const object = { url: "https://content.example/a", name: "a" };
const batchOf = (objects: number): string =>
  JSON.stringify({ profile: "demo_content", objects: Array.from({ length: objects }, () => object) });

interface HalfSent {
  readonly status: number | undefined;
  readonly text: string;
}

/** The answer to a request of which only the beginning was sent. */
function sendHalf(url: string, headers: Record<string, string | number>, beginning: string): Promise<HalfSent> {
  return new Promise((resolve, reject) => {
    const sent = ask(url, { method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => {
        resolve({ status: response.statusCode, text });
        sent.destroy();
      });
    });
    sent.on("error", reject);
    sent.write(beginning);
  });
}

describe("objects in one request", () => {
  test(`are at most ${OBJECTS_MAX}`, async () => {
    const { postJson, queue } = await startApp(cleanups);
    const response = await postJson(batchOf(OBJECTS_MAX + 1));
    expect(response.status).toBe(413);
    expect(await problemOf(response)).toMatchObject({ code: "PAYLOAD_TOO_LARGE", errors: [{ pointer: "/objects" }] });
    expect(queue.created.size).toBe(0);
  });

  test("are not made into values when there are far too many", async () => {
    const { postJson } = await startApp(cleanups);
    const response = await postJson(`{"profile":"demo_content","objects":[${"{},".repeat(700_000)}{}]}`);
    expect([response.status, (await problemOf(response)).code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  test("of another's collection are refused before they are read", async () => {
    const token = aToken("depositor", ["other_content"]);
    const { base } = await startApp(cleanups, 1_000, 100, await wallFor(cleanups, [token]));
    const headers = { ...token.headers, "content-type": "application/json", "content-length": 10_000_000 };
    const answer = await sendHalf(`${base}/v1/batches`, headers, '{"profile":"demo_content","objects":[{},{},');
    expect(answer).toMatchObject({ status: 403, text: expect.stringContaining("demo_content") });
  });
});

describe("a form", () => {
  const BOUNDARY = { "content-type": "multipart/form-data; boundary=b" };
  const field = (name: string, value: string): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const FILE = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';

  test("whose files are too large together is refused before it is read", async () => {
    const { base } = await startApp(cleanups, 1_000);
    const answer = await sendHalf(`${base}/v1/batches`, { ...BOUNDARY, "content-length": 3e12 }, FILE);
    expect(answer).toMatchObject({ status: 413, text: expect.stringContaining("2000 bytes together") });
  });

  test("that does not say how large it is is refused as soon as it is too large", async () => {
    const { base } = await startApp(cleanups, 20_000_000);
    const beginning = field("profile", "demo_content");
    const files = `${FILE}${"x".repeat(19_000_000)}\r\n`.repeat(3);
    const answer = await sendHalf(`${base}/v1/batches`, BOUNDARY, beginning + files);
    expect(answer).toMatchObject({ status: 413, text: expect.stringContaining("40000000 bytes together") });
  });

  test("that brings much before it names its collection is refused", async () => {
    const { base } = await startApp(cleanups, 100_000);
    const answer = await sendHalf(`${base}/v1/batches`, BOUNDARY, `${FILE}${"x".repeat(150_000)}`);
    expect(answer).toMatchObject({ status: 413, text: expect.stringContaining("profile comes before the file") });
  });

  test("has at most a hundred fields, of 64 KiB each", async () => {
    const { postForm, queue } = await startApp(cleanups);
    const formOf = (fields: readonly (readonly [string, string])[]): FormData => {
      const form = new FormData();
      for (const [name, value] of [["profile", "demo_content"] as const, ...fields]) form.append(name, value);
      form.append("file", new Blob(["x"]), "a.txt");
      return form;
    };
    const many = await postForm(formOf(Array.from({ length: 100 }, (_, n) => [`f${n}`, "x"] as const)));
    expect([many.status, (await problemOf(many)).detail]).toEqual([413, "the form has more than 100 fields"]);
    const long = await postForm(formOf([["title", "x".repeat(64 * 1024 + 1)]]));
    expect([long.status, await problemOf(long)]).toMatchObject([
      400,
      { errors: [{ detail: "has more than 65536 bytes" }] },
    ]);
    expect(queue.created.size).toBe(0);
  });

  test("has at most a hundred files", async () => {
    const { postForm, queue } = await startApp(cleanups);
    const form = new FormData();
    form.append("profile", "demo_content");
    for (let n = 0; n < 101; n += 1) form.append("file", new Blob(["x"]), `${n}.txt`);
    const response = await postForm(form);
    expect([response.status, await problemOf(response)]).toMatchObject([
      413,
      { code: "PAYLOAD_TOO_LARGE", errors: [{ field: "file", detail: "more than 100 files" }] },
    ]);
    expect(queue.created.size).toBe(0);
  });

  test("of a collection that has too much in progress is refused before it is read", async () => {
    const { base } = await startApp(cleanups, 1_000, 100, {}, null, { bytes: 1_000 });
    const headers = { ...BOUNDARY, "content-length": 5_000 };
    const answer = await sendHalf(
      `${base}/v1/batches`,
      headers,
      field("profile", "demo_content") + FILE + "x".repeat(100),
    );
    expect(answer).toMatchObject({ status: 413, text: expect.stringContaining("COLLECTION_MAX_BYTES") });
  });
});

describe("a collection's quota", () => {
  test("of batches is answered 429 with Retry-After once it is used up; another's is not", async () => {
    const { postJson, queue } = await startApp(cleanups, 1_000, 100, {}, null, { batches: 2 });
    const body = { profile: "demo_content", payload_url: "https://content.example/a" };
    for (const _ of [1, 2]) expect((await postJson(body)).status).toBe(202);
    const refused = await postJson(body);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
    expect((await problemOf(refused)).detail).toContain("demo_content has 2 batches in progress");
    expect(queue.created.size).toBe(2);
  });

  test("of bytes counts what a form brought", async () => {
    const { postForm } = await startApp(cleanups, 1_000, 100, {}, null, { bytes: 1_500 });
    const form = () => formOf({ profile: "demo_content", submitter: "ada" }, { name: "a", text: "x".repeat(600) });
    const answers = [(await postForm(form())).status, (await postForm(form())).status];
    expect(answers).toEqual([200, 429]);
  });
});

describe("quotas", () => {
  const NONE: QuotaLimits = { batches: 10, jobs: 10, queued: 10, bytes: 1_000 };

  function quotasOver(given: Partial<QuotaLimits> = {}) {
    const state = { nowMs: 0, looks: 0, counted: new Map([["c", NOTHING]]) as Map<string, typeof NOTHING> | null };
    const refused: OverQuota[] = [];
    const quotas = new Quotas({
      look: () => {
        state.looks += 1;
        return Promise.resolve(state.counted);
      },
      limitsOf: () => ({ ...NONE, ...given }),
      clock: { monotonicMs: () => state.nowMs },
      onRefused: (over) => refused.push(over),
    });
    return { quotas, state, refused };
  }

  test("look at the tree at most once in LOOK_MS, and count what was accepted since", async () => {
    const { quotas, state, refused } = quotasOver({ batches: 1 });
    await Promise.all([quotas.refresh(), quotas.refresh()]);
    expect(quotas.refuses("c", 0)).toBeNull();
    quotas.add("c", { batches: 1 });
    await quotas.refresh();
    expect([state.looks, quotas.refuses("c", 0)?.limit]).toEqual([1, "batches"]);
    expect(refused).toHaveLength(1);
    state.nowMs += LOOK_MS;
    await quotas.refresh();
    expect([state.looks, quotas.refuses("c", 0)]).toEqual([2, null]);
  });

  test("go on with the last figures while the tree does not answer", async () => {
    const { quotas, state } = quotasOver({ jobs: 5 });
    state.counted?.set("c", { ...NOTHING, jobs: 5 });
    await quotas.refresh();
    [state.counted, state.nowMs] = [null, LOOK_MS];
    await quotas.refresh();
    expect(quotas.refuses("c", 0)?.limit).toBe("jobs");
  });

  test("what is on its way counts until its end; another collection has its own", () => {
    const { quotas } = quotasOver();
    const end = quotas.hold("c", 900);
    expect([quotas.refuses("c", 200)?.limit, quotas.refuses("d", 200)]).toEqual(["bytes", null]);
    end();
    expect(quotas.refuses("c", 200)).toBeNull();
    expect(quotas.refuses("c", 2_000)).toMatchObject({ limit: "bytes", never: true });
  });

  test("rows wait in their manifest while the collection's share of the queue is used up", async () => {
    const { quotas, state } = quotasOver();
    state.counted?.set("c", { ...NOTHING, queued: 9 });
    expect(await quotas.expansionMustWait("c")).toBeNull();
    quotas.add("c", { queued: 1 });
    expect(await quotas.expansionMustWait("c")).toContain("c has 10 jobs in the queue");
    expect(await quotas.expansionMustWait("d")).toBeNull();
  });

  test("count rows to come, jobs in the queue and bytes of each collection", () => {
    const counts = { "batch-processing": 3, "batch-completed": 4, "batch-failed": 0, "batch-deleted": 0 };
    const expansion = { rows: 10, created: 7, digest: "", reports: 0, op: "" };
    const one = { ...batch({ expansion, submission: submission({ profile_name: "c" }) }), counts };
    const two = { ...batch({ expansion: null, submission: submission({ profile_name: "c" }) }), counts };
    expect(sumOf([one, { ...two, counts: { ...counts, "batch-processing": 0 } }] as never).get("c")).toMatchObject({
      batches: 2,
      jobs: 3 + 3 + 1,
      queued: 3,
    });
    expect(
      bytesOf(
        submission({
          uploads: [
            { name: "a", size: 5 },
            { name: "b", size: 6 },
          ],
        }),
      ),
    ).toBe(11);
  });

  test("are the settings', or the profile's", () => {
    const settings = loadConfig({ ZOOKEEPER_CONNECT: "127.0.0.1:2181" });
    expect(limitsOf(settings, profileOf(), PROFILE.profileId)).toEqual({
      batches: 10_000,
      jobs: 1_000_000,
      queued: 20_000,
      bytes: 10_000_000_000_000,
    });
    const own = profileOf({ ...PROFILE, maxJobsInProgress: 7, maxGigabytesInProgress: 2 });
    expect(limitsOf(settings, own, PROFILE.profileId)).toMatchObject({ jobs: 7, bytes: 2_000_000_000 });
  });
});
