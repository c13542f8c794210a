import { afterEach, describe, expect, test } from "@jest/globals";
import { type Answer, makeClient } from "@sluice/client";
import { fleetHandlers, type FleetPorts } from "@sluice/fleet-jobs";
import type { NewJob } from "@sluice/wire";
import type { Schedules } from "../src/submission/schedule.ts";
import { fieldsOf, problemOf, startApp } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const GOOD = { profile: "demo_content", payload_url: "https://content.example/a.checkm" };
const DAILY = { ...GOOD, firstRun: "2026-12-01T04:00:00+01:00", repeat: "FINISHED, +1 DAY" };

const PORTS: Omit<FleetPorts, "intake"> = {
  admin: null,
  snapshotsDir: "",
  reportsDir: "",
  purges: { runs: () => Promise.resolve(0), blobs: () => Promise.resolve(0) },
  nowMs: () => 0,
  pause: () => Promise.resolve(),
  onFindings: () => undefined,
};

type Kept = Omit<NewJob, "data"> & { readonly data: Readonly<Record<string, unknown>> };

/** As the queue does it: a unique job is made once, and found by its name from then on. */
function scheduleBook(): Schedules & { readonly jobs: Kept[] } {
  const jobs: Kept[] = [];
  const ok = <T>(value: T): Promise<Answer<T>> => Promise.resolve({ ok: true, value, status: 200 });
  return {
    jobs,
    create(job) {
      const found = job.unique === true ? jobs.findIndex(({ name }) => name === job.name) : -1;
      return ok({ jobID: found >= 0 ? found + 1 : jobs.push(job as Kept) });
    },
    dataOf: (id) => ok(JSON.parse(JSON.stringify(jobs[id - 1]!.data)) as Kept["data"]),
  };
}

const started = async (schedules: Schedules | null) => await startApp(cleanups, 1_000_000, 100, {}, schedules);

describe("POST /v1/batches with firstRun or repeat", () => {
  test("makes a job of the fleet's own, and no batch yet", async () => {
    const book = scheduleBook();
    const { queue, postJson } = await started(book);
    const response = await postJson(DAILY);
    expect(response.status).toBe(202);
    const url = "/v1/queue/tenants/system/jobs/1";
    expect(await response.json()).toEqual({ id: "job-1", bid: null, url, job: 1 });
    expect(queue.created.size).toBe(0);
    expect(book.jobs).toEqual([
      {
        name: "fleet/deposit",
        firstRun: "2026-12-01 03:00:00",
        repeat: "FINISHED, +1 DAY",
        data: {
          batch: { ...GOOD, submitter: "anonymous" },
          runs: 0,
          scheduled_by: "anonymous",
          request: expect.any(String),
        },
      },
    ]);
  });

  test("refuses now what would be refused at every run", async () => {
    const book = scheduleBook();
    const { postJson } = await started(book);
    const wrong = await postJson({ ...DAILY, profile: "lost_content", payload_url: "ftp://x/a" });
    expect(fieldsOf(await problemOf(wrong)).sort()).toEqual(["/payload_url", "/profile"]);
    const objects = await postJson({ profile: "demo_content", repeat: "HOURLY", objects: [{ url: "gopher://x" }] });
    expect(objects.status).toBe(400);
    expect(book.jobs).toEqual([]);
  });

  test("the same key again is the same schedule; with other content it is refused", async () => {
    const book = scheduleBook();
    const { postJson } = await started(book);
    const first = await postJson(DAILY, { "idempotency-key": "42" });
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([202, null]);
    const replayed = await postJson(DAILY, { "idempotency-key": "42" });
    expect([replayed.status, replayed.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    expect(await replayed.json()).toMatchObject({ job: 1 });
    const other = await postJson({ ...DAILY, title: "Other" }, { "idempotency-key": "42" });
    expect((await problemOf(other)).code).toBe("IDEMPOTENCY_KEY_REUSED");
    expect(book.jobs).toHaveLength(1);
  });

  test("says what is missing where there is no job queue, and passes on what the queue says of a schedule", async () => {
    const { postJson } = await started(null);
    const without = await problemOf(await postJson(DAILY));
    expect([without.status, without.detail]).toEqual([503, expect.stringContaining("JOB_API_URL")]);
    const refusal = { status: 400, code: "INVALID_REQUEST", title: "", detail: "402 Malformed repeat", instance: "" };
    const strict = await started({
      ...scheduleBook(),
      create: () => Promise.resolve({ ok: false, kind: "refused", refusal }),
    });
    expect(fieldsOf(await problemOf(await strict.postJson(DAILY)))).toEqual(["/repeat"]);
  });

  test("its run submits once, however often it is run, and the next run submits anew", async () => {
    const book = scheduleBook();
    const { queue, postJson, base } = await started(book);
    await postJson(DAILY);
    const intake = makeClient({ baseUrl: base });
    const deposit = fleetHandlers({ ...PORTS, intake })("fleet/deposit")!;
    const run = (data: Kept["data"]) =>
      deposit(
        { id: 1, tenant: "system", name: "fleet/deposit", data, token: "1.1", attempt: 1 },
        new AbortController().signal,
      );
    const { data } = book.jobs[0]!;
    const first = await run(data);
    // Killed before its end was written down: the data are still the old ones.
    const again = await run(data);
    expect([first.exit, again]).toEqual([200, first]);
    expect(queue.created.size).toBe(1);
    expect(first.data).toMatchObject({ ...data, runs: 1 });
    const second = await run(first.data!);
    expect(JSON.parse(second.result)).toMatchObject({ run: 2 });
    expect(queue.created.size).toBe(2);
    const lost = await run({ ...data, batch: { profile: "lost_content", payload_url: "https://a.example/x" } });
    expect(lost.exit).toBe(422);
    expect((await run({ batch: 7 })).exit).toBe(400);
  });

  test("an intake that is away for a moment is waited for, within the run", async () => {
    const { queue, base } = await started(null);
    let away = 2;
    const flaky: typeof fetch = (...asked) =>
      away-- > 0 ? Promise.reject(new TypeError("connection refused")) : fetch(...asked);
    const waits: number[] = [];
    const pause = (ms: number): Promise<void> => Promise.resolve(void waits.push(ms));
    const deposit = fleetHandlers({ ...PORTS, intake: makeClient({ baseUrl: base, fetch: flaky }), pause })(
      "fleet/deposit",
    )!;
    const job = { id: 7, tenant: "system", name: "fleet/deposit", data: { batch: GOOD }, token: "1.1", attempt: 1 };
    expect(await deposit(job, new AbortController().signal)).toMatchObject({ exit: 200, data: { runs: 1 } });
    expect([queue.created.size, waits]).toEqual([1, [1_000, 5_000]]);
  });
});
