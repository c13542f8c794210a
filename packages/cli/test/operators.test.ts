/** What operators do, against a real admin over a real tree. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Role } from "@sluice/access";
import { type BatchId, type JobId, orderJobs, readJobs } from "@sluice/queue-core";
import { aBatchOfJobs, advance, testWorker, type TestWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { COLLECTION, startAdmin, type TestAdmin } from "../../../services/admin/test/support.ts";
import { type Played, sluice, type Stage } from "./support.ts";

const WHY = '--reason "a test"';
let connect: string;
let intake: TestWorker;
let admin: TestAdmin;
let batch: BatchId;
let jobs: readonly JobId[];

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  admin = await startAdmin(connect);
  ({ batch, jobs } = await aBatchOfJobs(intake, 3));
});
afterEach(async () => {
  await admin.stop();
  await intake.close();
});

const as =
  (role: Role) =>
  (line: string, stage: Stage = {}): Promise<Played> =>
    sluice(line, { ...stage, env: { SLUICE_ADMIN_URL: admin.url, SLUICE_TOKEN: admin.tokens[role], ...stage.env } });
const olga = as("operator");

async function states(of: readonly JobId[] = jobs): Promise<readonly string[]> {
  const read = await readJobs(intake.session, of);
  if (read === null) throw new Error("no answer");
  return read.map((job) => (job.kind === "found" ? job.value.status.status : job.kind));
}

describe("looking", () => {
  test("lists and shows jobs and batches as table, wide, json, yaml and names", async () => {
    const table = await olga(`job list --batch ${batch}`);
    expect([table.code, table.err]).toEqual([0, ""]);
    const [head, ...rows] = table.out.trimEnd().split("\n");
    expect(head).toMatch(/^JOB +STATUS +BATCH +PROFILE +PRI +SIZE +CHANGED +NAME +MESSAGE$/);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(
      new RegExp(`^${jobs[0]!} +Pending +${batch} +${COLLECTION} .* \\d{4}-\\d\\d-\\d\\dT[\\d:]+Z`),
    );
    expect((await olga(`job list --batch ${batch} -o name`)).out).toBe(`${jobs.join("\n")}\n`);
    expect((await olga("job list -o wide")).out).toContain("LOCAL IDS");
    const json = JSON.parse((await olga("job list -o json --limit 2")).out) as {
      items: unknown[];
      next_cursor: string;
    };
    expect([json.items.length, typeof json.next_cursor]).toEqual([2, "string"]);
    expect((await olga("job list --limit 2")).err).toContain("There are more");
    expect((await olga("job list --limit 2 --all -o name")).out.trim().split("\n")).toHaveLength(3);
    expect((await olga(`batch show ${batch} -o yaml`)).out).toContain(`bid: ${batch}\n`);
    expect((await olga(`batch show ${batch}`)).out).toMatch(/^Status: +Processing$/m);
    expect((await olga("batch list --batch-state Processing -o name")).out).toBe(`${batch}\n`);
    expect((await olga(`batch jobs ${batch} --outcome processing -o name`)).out).toBe(`${jobs.join("\n")}\n`);
    const shown = await olga(`job show ${jobs[0]!}`);
    expect(shown.out).toMatch(/^You can: +.*hold/m);
  });

  test("on a terminal has colours and ages, and fits the window; NO_COLOR has none", async () => {
    await olga(`job fail ${jobs[0]!} ${WHY} --yes`);
    const wide = await olga("job list --state Failed", { terminal: 60 });
    expect(wide.out).toContain("\u001b[31mFailed\u001b[39m");
    expect(wide.out).not.toMatch(/\d{4}-\d\d-\d\dT/);
    const plain = await olga("job list --state Failed", { terminal: 60, env: { NO_COLOR: "1" } });
    expect(plain.out).not.toContain("\u001b");
  });

  test("shows the fleet: stages, workers, collections, the queue, oneself", async () => {
    expect((await olga("stage list")).out).toMatch(/^downloader +0 +0 /m);
    expect((await olga("worker list -o name")).out).toContain(intake.actor.worker);
    expect((await olga(`worker show ${intake.actor.worker}`)).out).toMatch(/^Stage: +batch-intake$/m);
    expect((await olga("stage show batch-intake")).out).toContain(intake.actor.worker);
    await waitFor(async () => new RegExp(`^${COLLECTION} +3 `, "m").test((await olga("collection list")).out));
    expect((await olga(`collection show ${COLLECTION}`)).out).toContain("Pending 3");
    expect((await olga("queue show")).out).toContain("Pending 3");
    expect((await olga("top")).out).toContain("STAGE");
    expect((await olga("whoami")).out).toMatch(/^Role: +operator$/m);
    expect((await olga(`job files ${jobs[0]!}`)).code).toBe(0);
    expect((await olga("mail list")).code).toBe(0);
  });

  test("what is not there ends with 3, and with a near name if there is one", async () => {
    expect((await olga("job show jid0000009999")).code).toBe(3);
    expect((await olga("worker show nobody")).code).toBe(3);
    const near = await olga("collection show sluice_demo_contnet");
    expect([near.code, near.err]).toEqual([3, expect.stringContaining(`did you mean ${COLLECTION}?`)]);
  });

  test("top is live on a terminal until q is pressed, and gives the screen back", async () => {
    let press: (key: string) => void = () => undefined;
    const { code, out } = await olga("top", {
      terminal: 100,
      keys: (listener) => (press = listener),
      onOut: (text) => {
        if (text.includes("STAGE")) press("q");
      },
    });
    expect(code).toBe(0);
    expect(out.startsWith("\u001b[?1049h")).toBe(true);
    expect(out.endsWith("\u001b[?1049l")).toBe(true);
  });
});

describe("one job", () => {
  test("is held, released, failed, resumed, moved ahead and deleted; each with its reason in the audit", async () => {
    const [job] = jobs;
    await advance(connect, jobs[1]!, "Downloading");
    for (const line of [`job hold ${job!}`, `job release ${job!}`, `job priority ${job!} --to 2`]) {
      const { code, out } = await olga(`${line} ${WHY}`);
      expect([line, code, out.includes(job!)]).toEqual([line, 0, true]);
    }
    expect((await olga(`job show ${job!}`)).out).toMatch(/^Priority: +02$/m);
    expect((await olga(`job fail ${jobs[1]!} ${WHY} --yes`)).code).toBe(0);
    expect((await olga(`job resume ${jobs[1]!} --at Estimating ${WHY}`)).code).toBe(0);
    expect(await states()).toEqual(["Pending", "Estimating", "Pending"]);
    expect((await olga(`job fail ${jobs[1]!} ${WHY} --yes`)).code).toBe(0);
    expect((await olga(`job delete ${jobs[1]!} ${WHY} --yes`)).code).toBe(0);
    const audit = await olga("audit list -o json --all");
    const records = (JSON.parse(audit.out) as { items: { action: string; reason: string }[] }).items;
    expect(records.filter(({ reason }) => reason === "a test")).toHaveLength(7);
    expect((await olga("audit list --limit 1")).out).toMatch(/CALLER[^\n]*\n[^\n]* operator +token:[a-z0-9]{12} /);
    expect((await olga("audit check")).out).toContain("is whole");
  });

  test("takes a reason, asked for where somebody is there", async () => {
    const silent = await olga(`job hold ${jobs[0]!}`);
    expect([silent.code, silent.err]).toEqual([64, expect.stringContaining("--reason")]);
    const asked = await olga(`job hold ${jobs[0]!}`, { answers: ["the owner asked"] });
    expect([asked.code, asked.questions.length]).toEqual([0, 1]);
    expect((await olga(`job show ${jobs[0]!}`)).out).toContain("the owner asked");
  });

  test("is failed or deleted only after its id has been typed", async () => {
    const no = await olga(`job fail ${jobs[0]!} ${WHY}`, { answers: ["y"] });
    expect([no.code, await states()]).toEqual([4, ["Pending", "Pending", "Pending"]]);
    const nobody = await olga(`job fail ${jobs[0]!} ${WHY}`);
    expect([nobody.code, nobody.err]).toEqual([64, expect.stringContaining("--yes")]);
    expect((await olga(`job fail ${jobs[0]!} ${WHY}`, { answers: [jobs[0]!] })).code).toBe(0);
    expect(await states()).toEqual(["Failed", "Pending", "Pending"]);
  });

  test("whose state does not allow it is refused with 4 and the reason; a viewer changes nothing", async () => {
    const wrong = await olga(`job release ${jobs[0]!} ${WHY}`);
    expect([wrong.code, wrong.out]).toEqual([4, ""]);
    expect(wrong.err).toMatch(/409 .*request \S+/);
    const viewer = await as("viewer")(`job hold ${jobs[0]!} ${WHY}`);
    expect([viewer.code, viewer.err]).toEqual([4, expect.stringContaining("sluice whoami")]);
    const nobody = await sluice("job list", { env: { SLUICE_ADMIN_URL: admin.url } });
    expect([nobody.code, nobody.err]).toEqual([4, expect.stringContaining("SLUICE_TOKEN")]);
    expect(await states()).toEqual(["Pending", "Pending", "Pending"]);
  });
});

describe("many jobs", () => {
  async function failedJobs(count: number): Promise<readonly JobId[]> {
    const made = await aBatchOfJobs(intake, count);
    await orderJobs(intake.ctx, { name: "olga", reason: "x" }, { action: "fail" }, { ids: made.jobs });
    return made.jobs;
  }

  test("are counted, resumed in one command with progress, and told", async () => {
    const failed = await failedJobs(130);
    const dry = await olga(`job resume --state Failed --profile ${COLLECTION} --dry-run`);
    expect([dry.code, dry.out.split("\n")[0]]).toEqual([0, "resume: 130 jobs"]);
    const done = await olga(`job resume --state Failed --profile ${COLLECTION} ${WHY} --expect 130`, {
      answers: ["y"],
    });
    expect(done.code).toBe(0);
    expect(done.questions).toEqual(["resume 130 jobs? [y/N] "]);
    expect(done.err).toContain("by state:   Failed 130");
    expect(done.out).toMatch(/^resume: 130 of 130 jobs, done \(operation \S+\)$/m);
    expect(new Set(await states(failed))).toEqual(new Set(["Pending"]));
    const listed = await olga("operation list");
    expect(listed.out).toMatch(/ done +resume +130 +130 +0 /);
  });

  test("are left alone when the count is another, nobody says yes, or nothing was chosen", async () => {
    const before = await states();
    expect((await olga(`job hold --state Pending ${WHY} --expect 7 --yes`)).code).toBe(4);
    expect((await olga(`job hold --state Pending ${WHY}`)).code).toBe(64);
    expect((await olga(`job hold --state Pending ${WHY}`, { answers: ["n"] })).code).toBe(4);
    expect((await olga(`job delete --state Pending ${WHY} --yes`)).code).toBe(4);
    const all = await olga(`job hold ${WHY} --yes`);
    expect([all.code, all.err]).toEqual([64, expect.stringContaining("which jobs?")]);
    expect(await states()).toEqual(before);
  });

  test("are chosen by the words of a search, counted first", async () => {
    const dry = await olga(`job hold -q ${jobs[1]!} --dry-run`);
    expect([dry.code, dry.out.split("\n")[0]]).toEqual([0, "hold: 1 job"]);
    expect((await olga(`job hold --search ${jobs[1]!} ${WHY} --yes`)).code).toBe(0);
    expect(await states()).toEqual(["Pending", "Held", "Pending"]);
  });

  test("named on stdin are taken too, and those that refuse are told with 2", async () => {
    await olga(`job hold ${jobs[0]!} ${WHY}`);
    const { code, out } = await olga(`job hold - ${WHY} --yes`, { stdin: `${jobs.join("\n")}\n` });
    expect(code).toBe(2);
    expect(out).toMatch(/1 job refused: .*\(e\.g\. /);
    expect(await states()).toEqual(["Held", "Held", "Held"]);
  });

  test("deleted for good take the count as answer", async () => {
    await failedJobs(5);
    const { code, questions } = await olga(`job delete --state Failed ${WHY}`, { answers: ["5"] });
    expect([code, questions[0]]).toEqual([0, "delete 5 jobs?\nType 5 to go on: "]);
  });

  test("may be left to themselves, looked at and stopped", async () => {
    await failedJobs(60);
    const begun = await olga(`job resume --state Failed ${WHY} --yes --no-wait -o name`);
    const id = begun.out.trim();
    expect((await olga(`operation watch ${id}`)).code).toBe(0);
    expect((await olga(`operation show ${id} -o json`)).out).toContain('"state": "done"');
    const unexplained = await olga(`operation stop ${id}`);
    expect([unexplained.code, unexplained.err]).toEqual([64, expect.stringContaining("every change needs a reason")]);
    // It is over by now: nothing is left to be stopped.
    expect((await olga(`operation stop ${id} ${WHY}`)).code).toBe(4);
  });
});

describe("batches", () => {
  test("are watched until they are over, and deleted", async () => {
    const made = await aBatchOfJobs(intake, 2);
    const { code, err } = await olga(`batch watch ${made.batch} --timeout 1s`);
    expect([code, err]).toEqual([5, expect.stringContaining("is still Processing")]);
    expect((await olga(`job watch ${made.jobs[0]!} --timeout 1s`)).code).toBe(5);
    const watching = olga(`job watch ${made.jobs[0]!}`);
    expect((await olga(`job fail ${made.jobs[0]!} ${WHY} --yes`)).code).toBe(0);
    expect((await watching).code).toBe(2);
    const refused = await olga(`batch delete ${made.batch} ${WHY} --yes`);
    expect([refused.code, refused.err]).toEqual([4, expect.stringContaining("Processing")]);
    expect((await olga(`batch release ${made.batch} --dry-run`)).code).toBe(4);
  });
});

describe("holds", () => {
  test.each([
    [`collection hold ${COLLECTION}`, `collection release ${COLLECTION}`, "collection list -o json"],
    ["queue pause", "queue resume", "queue show -o json"],
    ["stage pause downloader estimator", "stage resume downloader estimator", "stage list -o json"],
    ["worker drain WORKER", "worker undrain WORKER", "worker list -o json"],
  ])("%s, and %s", async (on, off, look) => {
    const named = (line: string): string => line.replace("WORKER", intake.actor.worker);
    const dry = await olga(`${named(on)} --until 2h --dry-run`);
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining("would")]);
    expect((await olga(look)).out).not.toContain("night shift");
    expect((await olga(`${named(on)} --until 2h --reason "night shift"`)).code).toBe(0);
    const held = await waitFor(async () => {
      const { out } = await olga(look);
      return out.includes("night shift") && out;
    });
    expect(held).toMatch(/"until": "\d{4}/);
    expect((await olga(`${named(off)} ${WHY}`)).code).toBe(0);
    await waitFor(async () => !(await olga(look)).out.includes("night shift"));
  });
});

test("completion is told of jobs, batches, profiles and workers, and of nothing when nobody answers", async () => {
  expect((await olga("__complete job")).out).toBe(`${[...jobs].join("\n")}\n`);
  expect((await olga("__complete batch")).out).toBe(`${batch}\n`);
  expect((await olga("__complete profile")).out).toBe(`${COLLECTION}\n`);
  expect((await olga("__complete worker")).out).toContain(intake.actor.worker);
  const away = await olga("__complete job", { env: { SLUICE_ADMIN_URL: "http://127.0.0.1:9" } });
  expect([away.code, away.out, away.err]).toEqual([0, "", ""]);
});
