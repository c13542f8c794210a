import { afterEach, describe, expect, test } from "@jest/globals";
import type { Authentication, Caller, CallerLookup } from "@sluice/access";
import { type Answer, makeClient } from "@sluice/client";
import { fleetHandlers, type FleetPorts } from "@sluice/fleet-jobs";
import type { WallOptions } from "@sluice/http-api";
import type { NewJob, QueuedJob, QueuedJobDetail } from "@sluice/wire";
import type { Schedules } from "../src/submission/schedule.ts";
import { fieldsOf, problemOf, startApp } from "./http-support.ts";
import { KeptSchedule } from "../src/submission/sealed.ts";
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
  onDone: () => Promise.resolve(),
  onFindings: () => Promise.resolve(),
};

type Kept = Omit<NewJob, "data" | "name"> & { readonly name: string; readonly data: Readonly<Record<string, unknown>> };

const NO_JOB = { status: 404, code: "NOT_FOUND", title: "", detail: "404 No job with this jobID", instance: "" };

/** As the queue does it: a unique job is made once, and found by its name from then on. */
interface Book extends Schedules {
  readonly jobs: (Kept | null)[];
  /** Those that run just now, and those that failed, with their results. */
  readonly running: Set<number>;
  readonly failed: Map<number, string>;
}

function scheduleBook(): Book {
  const jobs: (Kept | null)[] = [];
  const [running, failed, steps] = [new Set<number>(), new Map<number, string>(), new Map<number, string>()];
  const ok = <T>(value: T): Promise<Answer<T>> => Promise.resolve({ ok: true, value, status: 200 });
  const none = (): Promise<Answer<never>> => Promise.resolve({ ok: false, kind: "refused", refusal: NO_JOB });
  const copy = (id: number): Kept | null => JSON.parse(JSON.stringify(jobs[id - 1] ?? null)) as Kept | null;
  const listed = (id: number, { name, repeat }: Kept): QueuedJob => ({
    ...{ jobID: id, tenant: "system", name, priority: 500, created: "2026-01-01T00:00:00.000Z" },
    state: failed.has(id) ? "FAILED" : running.has(id) ? "RUNNING" : "QUEUED",
    ...{ nextRun: "2026-12-01T03:00:00.000Z", lastRun: null, repeat: repeat ?? "", retryAfter: "", owner: "" },
    step: steps.get(id) ?? "",
  });
  const runsOf = (id: number): readonly object[] =>
    failed.has(id) ? [{ ended: "2026-12-01T03:00:00.000Z", exit: 410, result: failed.get(id) }] : [];
  return {
    jobs,
    running,
    failed,
    create(job) {
      const found = job.unique === true ? jobs.findIndex((each) => each?.name === job.name) : -1;
      return ok({ jobID: found >= 0 ? found + 1 : jobs.push(job as Kept) });
    },
    sealedOf(id) {
      const job = copy(id);
      return job === null ? none() : ok(KeptSchedule.parse(job));
    },
    describe(id) {
      const job = copy(id);
      return job === null
        ? none()
        : ok({ ...listed(id, job), data: job.data, runs: runsOf(id) } as unknown as QueuedJobDetail);
    },
    list(names) {
      const wanted = ({ name }: Kept): boolean =>
        names.some((each) => each === name || (each.endsWith("*") && name.startsWith(each.slice(0, -1))));
      const items = jobs.flatMap((job, n) => (job !== null && wanted(job) ? [listed(n + 1, job)] : []));
      return ok({ items, next_cursor: null });
    },
    remove(id) {
      if (running.has(id)) {
        steps.set(id, "cancelled: it will not repeat");
        return Promise.resolve({ ok: true, value: {}, status: 202 });
      }
      jobs[id - 1] = null;
      return ok({});
    },
  };
}

const OWNER = /^fleet\/deposit\/[0-9a-f]{32}$/;

const started = async (schedules: Schedules | null, ...more: [wall?: Partial<WallOptions>, by?: ById]) =>
  await startApp(cleanups, 1_000_000, 100, more[0] ?? {}, schedules, {}, more[1] ?? null);
type ById = CallerLookup["callerById"];

describe("POST /v1/batches with firstRun or repeat", () => {
  test("makes a job of the fleet's own, and no batch yet", async () => {
    const book = scheduleBook();
    const { queue, postJson } = await started(book);
    const response = await postJson(DAILY);
    expect(response.status).toBe(202);
    const url = "/v1/schedules/1";
    expect(await response.json()).toEqual({ id: "job-1", bid: null, url, job: 1 });
    expect(queue.created.size).toBe(0);
    expect(book.jobs).toEqual([
      {
        name: expect.stringMatching(OWNER),
        firstRun: "2026-12-01 03:00:00",
        repeat: "FINISHED, +1 DAY",
        data: {
          sealed: {
            batch: { ...GOOD, submitter: "anonymous" },
            by: { id: "anonymous", name: "anonymous" },
            request: expect.any(String),
            leastIntervalMs: 900_000,
          },
          runs: 0,
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
    book.jobs[0] = { ...book.jobs[0]!, data: first.data! };
    const second = await run(first.data!);
    expect(JSON.parse(second.result)).toMatchObject({ run: 2 });
    expect(queue.created.size).toBe(2);
    // Of one that is long over, a runner that slept through it must not make another batch.
    expect((await run(data)).exit).toBe(422);
    // Made by an older version: nobody knows whose it is.
    expect((await run({ batch: GOOD, runs: 0 })).exit).toBe(400);
    expect(queue.created.size).toBe(2);
  });

  test("an intake that is away for a moment is waited for, within the run", async () => {
    const { queue, base, postJson } = await started(scheduleBook());
    await postJson(DAILY);
    let away = 2;
    const flaky: typeof fetch = (...asked) =>
      away-- > 0 ? Promise.reject(new TypeError("connection refused")) : fetch(...asked);
    const waits: number[] = [];
    const pause = (ms: number): Promise<void> => Promise.resolve(void waits.push(ms));
    const deposit = fleetHandlers({ ...PORTS, intake: makeClient({ baseUrl: base, fetch: flaky }), pause })(
      "fleet/deposit",
    )!;
    const job = {
      id: 1,
      tenant: "system",
      name: "fleet/deposit",
      data: { sealed: {}, runs: 0 },
      token: "1.1",
      attempt: 1,
    };
    expect(await deposit(job, new AbortController().signal)).toMatchObject({ exit: 200, data: { runs: 1 } });
    expect([queue.created.size, waits]).toEqual([1, [1_000, 5_000]]);
  });
});

describe("whose a deposit for later is", () => {
  const ADA: Caller = { id: "token:ada", name: "Ada", role: "depositor", scope: ["demo_content"], tenants: [] };
  const BOB: Caller = { ...ADA, id: "token:bob", name: "Bob" };
  const RUNNER: Caller = { id: "token:run", name: "runner", role: "admin", scope: "all", tenants: "all" };
  const CALLERS: Readonly<Record<string, Caller>> = { ada: ADA, bob: BOB, run: RUNNER };

  async function startWith(known: Record<string, Authentication> = {}) {
    const book = scheduleBook();
    const authenticator = {
      authenticate: (header: string | undefined): Promise<Authentication> => {
        const caller = CALLERS[header?.slice("Bearer ".length) ?? ""];
        return Promise.resolve(caller === undefined ? { kind: "anonymous" } : { kind: "caller", caller });
      },
    };
    const byId: ById = (id) => Promise.resolve(known[id] ?? { kind: "refused", why: "their token was revoked" });
    const app = await started(book, { authenticator }, byId);
    const ask = (who: string, path: string, method = "GET", body?: object): Promise<Response> =>
      fetch(`${app.base}${path}`, {
        method,
        headers: { authorization: `Bearer ${who}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const make = (who: string, body: object = DAILY): Promise<Response> => ask(who, "/v1/batches", "POST", body);
    const run = (id: number): Promise<Response> => ask("run", `/v1/schedules/${id}/runs`, "POST", { run: 1 });
    return { ...app, book, known, ask, make, run };
  }

  test("a run submits in its maker's name, and not after their token has ended, lost its scope or its role", async () => {
    const { make, run, queue, known, refusedSchedules } = await startWith();
    expect((await make("ada")).status).toBe(202);
    const refused = await problemOf(await run(1));
    expect([refused.status, refused.code, refused.detail]).toEqual([
      410,
      "SCHEDULE_ENDED",
      "Ada made this schedule: their token was revoked",
    ]);
    // The operator reads it, too.
    expect(refusedSchedules).toEqual([{ schedule: 1, why: "Ada made this schedule: their token was revoked" }]);
    known["token:ada"] = { kind: "refused", why: "their token expired at 2026-01-01T00:00:00Z" };
    expect((await problemOf(await run(1))).detail).toContain("expired");
    known["token:ada"] = { kind: "caller", caller: { ...ADA, scope: ["other_content"] } };
    expect((await problemOf(await run(1))).detail).toBe("Ada may no longer submit to demo_content");
    known["token:ada"] = { kind: "caller", caller: { ...ADA, role: "viewer" } };
    expect((await run(1)).status).toBe(410);
    known["token:ada"] = { kind: "silence" };
    expect((await run(1)).status).toBe(503);
    expect(queue.created.size).toBe(0);
    known["token:ada"] = { kind: "caller", caller: ADA };
    expect((await run(1)).status).toBe(202);
    expect([...queue.created.values()].map(({ submission }) => submission["submitted_by"])).toEqual(["Ada"]);
  });

  test("only the fleet runs them, and only under the name of who made them", async () => {
    const { make, ask, run, book, queue } = await startWith({ "token:ada": { kind: "caller", caller: ADA } });
    await make("bob");
    expect((await ask("bob", "/v1/schedules/1/runs", "POST", { run: 1 })).status).toBe(403);
    // Whoever can make jobs of the fleet cannot put another's name on one.
    const job = book.jobs[0]!;
    const sealed = { ...(job.data["sealed"] as object), by: { id: "token:ada", name: "Ada" } };
    book.jobs[0] = { ...job, data: { ...job.data, sealed } };
    expect((await run(1)).status).toBe(410);
    expect(queue.created.size).toBe(0);
  });

  test("its maker lists, sees and cancels it; for others it is not there", async () => {
    const { make, ask, book } = await startWith();
    const url = "https://content.example/a.checkm?signature=secret";
    await make("ada", { ...DAILY, payload_url: url, notification: "ada@example.org" });
    await make("bob");
    const listed = (await (await ask("ada", "/v1/schedules")).json()) as { items: { id: number }[] };
    expect(listed.items).toMatchObject([{ id: 1, profile: "demo_content", last_exit: null }]);
    expect(JSON.stringify(listed)).not.toMatch(/secret|ada@/);
    const seen = await (await ask("ada", "/v1/schedules/1")).text();
    expect(JSON.parse(seen)).toMatchObject({ id: 1, runs: 0, batch: { profile: "demo_content" } });
    expect(seen).not.toMatch(/secret|ada@/);
    expect((await ask("bob", "/v1/schedules/1")).status).toBe(404);
    expect((await ask("bob", "/v1/schedules/1", "DELETE")).status).toBe(404);
    const cancelled = await ask("ada", "/v1/schedules/1", "DELETE");
    expect([cancelled.status, await cancelled.json()]).toEqual([200, { ended: true, message: "it is cancelled" }]);
    expect(book.jobs[0]).toBeNull();
    expect((await ask("ada", "/v1/schedules/1")).status).toBe(404);
  });

  test("one that runs just now is cancelled, too: it ends with that run, and says so", async () => {
    const { make, ask, book } = await startWith();
    await make("ada");
    book.running.add(1);
    expect((await (await ask("ada", "/v1/schedules")).json()) as object).toMatchObject({ items: [{ ends: null }] });
    const cancelled = await ask("ada", "/v1/schedules/1", "DELETE");
    const message = "it runs just now: this run is its last, it will not repeat";
    expect([cancelled.status, await cancelled.json()]).toEqual([200, { ended: false, message }]);
    const ends = "cancelled: it will not repeat";
    expect((await (await ask("ada", "/v1/schedules/1")).json()) as object).toMatchObject({ state: "RUNNING", ends });
  });

  test("one whose maker lost their rights has ended, and says why", async () => {
    const { make, ask, book, base } = await startWith();
    await make("ada");
    const intake = makeClient({ baseUrl: base, token: "run" });
    const deposit = fleetHandlers({ ...PORTS, intake })("fleet/deposit")!;
    const { name, data } = book.jobs[0]!;
    const job = { id: 1, tenant: "system", name, data, token: "1.1", attempt: 1 };
    const ended = await deposit(job, new AbortController().signal);
    expect(ended).toMatchObject({ exit: 410, forGood: true });
    book.failed.set(1, ended.result);
    const why = "Ada made this schedule: their token was revoked";
    expect((await (await ask("ada", "/v1/schedules/1")).json()) as object).toMatchObject({
      ...{ state: "FAILED", next_run: null, ends: why },
    });
  });

  test.each([
    ["firstRun", { firstRun: "2020-01-01T00:00:00Z", repeat: "SCHEDULED, +1 HOUR" }],
    ["firstRun", { firstRun: "2020-01-01 00:00:00" }],
    ["repeat", { repeat: "FINISHED, +1 MONTH, -29 DAYS" }],
    ["repeat", { firstRun: "2026-07-01T00:00:00Z", repeat: "SCHEDULED, +1 MONTH, -31 DAYS, +15 MINUTES" }],
    ["repeat", { firstRun: "2026-03-01T00:00:00Z", repeat: "STARTED, +1 MONTH, -30 DAYS, +1 HOUR" }],
    ["repeat", { repeat: "SCHEDULED, +1 YEAR, -366 DAYS, +1 HOUR" }],
  ])("a %s that would let it run without a pause is refused: %j", async (field, times) => {
    const { make, book } = await startWith();
    const refused = await problemOf(await make("ada", { ...GOOD, ...times }));
    expect([refused.status, fieldsOf(refused)]).toEqual([400, [`/${field}`]]);
    expect(book.jobs).toEqual([]);
  });

  test.each([
    { firstRun: "2026-01-01T12:00:00Z", repeat: "SCHEDULED, +1 HOUR" },
    { repeat: "SCHEDULED, START OF MONTH, +2 MONTHS, -1 DAY" },
    { firstRun: "2026-01-31T23:59:00Z", repeat: "FINISHED, +1 MONTH, START OF MONTH" },
    { repeat: "FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +4 HOURS" },
    { repeat: "SCHEDULED, +1 YEAR" },
  ])("a schedule that keeps its distance is taken: %j", async (times) => {
    const { make } = await startWith();
    expect((await make("ada", { ...GOOD, ...times })).status).toBe(202);
  });

  test("nobody has more than so many, nor one that runs too often", async () => {
    const { make, ask } = await startWith();
    for (const repeat of ["FINISHED, +1 SECOND", "SCHEDULED, +14 MINUTES", "STARTED, START OF DAY"])
      expect(fieldsOf(await problemOf(await make("ada", { ...DAILY, repeat })))).toEqual(["/repeat"]);
    for (const repeat of ["HOURLY", "SCHEDULED, +15 MINUTES", "FINISHED, +1 MONTH, START OF MONTH"])
      expect((await make("ada", { ...DAILY, repeat })).status).toBe(202);
    const refused = await make("ada");
    expect(refused.headers.get("retry-after")).toBe("60");
    const full = await problemOf(refused);
    expect([full.status, full.detail]).toEqual([429, "you have 3 schedules, which is the limit: cancel one first"]);
    expect((await make("bob")).status).toBe(202);
    await ask("ada", "/v1/schedules/1", "DELETE");
    expect((await make("ada")).status).toBe(202);
  });

  test("one holds no more than a node of the queue's tree does", async () => {
    const { make, book } = await startWith();
    const objects = (count: number): object => ({
      ...{ profile: "demo_content", repeat: "HOURLY" },
      objects: Array.from({ length: count }, (_, n) => ({ url: `https://content.example/${"a".repeat(900)}${n}` })),
    });
    expect((await make("ada", objects(50))).status).toBe(202);
    const large = await problemOf(await make("ada", objects(60)));
    expect([large.status, fieldsOf(large)]).toEqual([400, ["/objects"]]);
    expect(book.jobs).toHaveLength(1);
  });

  test("who cannot be looked up later cannot make one", async () => {
    const jwt: Caller = { ...ADA, id: "https://login.example ada" };
    const authenticator = { authenticate: () => Promise.resolve({ kind: "caller", caller: jwt } as const) };
    const { postJson } = await started(scheduleBook(), { authenticator });
    expect((await problemOf(await postJson(DAILY))).detail).toContain("take a token");
  });
});
