/** The job queue in the console, before a real job-api. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Client, makeClient } from "@sluice/client";
import { openWorkers } from "@sluice/job-workers";
import { skipUnless } from "@sluice/local-parts";
import { testWorker, type TestWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { JOBS } from "@sluice/wire";
import { systemClock } from "@sluice/zookeeper";
import type { Browser, Page } from "playwright-core";
import { type BadJob, plantBadJob } from "../../../../tests/support/job-queue/bad-record.ts";
import { startAdmin, type TestAdmin, valueOf } from "../support.ts";
import { judgePage, loadAxe, PHONE, settled, tooWide } from "./access.ts";
import { type As, button, CHROMIUM, launch, visit, visitors } from "./browser.ts";
import { freePort, startJobApi, type TestJobApi } from "./job-api.ts";

const TENANT = "maps";
let admin: TestAdmin;
let api: TestJobApi;
let browser: Browser;
let as: As;
let jobs: Client;
let registrar: TestWorker;
let bad: BadJob;

const params = { tenant: TENANT };
const made = async (body: object, tenant = TENANT): Promise<number> =>
  valueOf(await jobs.call(JOBS.createJob, { params: { tenant }, body })).jobID;
const stateOf = async (jobID: number): Promise<string> => {
  const answer = await jobs.call(JOBS.queryJob, { params, body: { jobID } });
  return answer.ok ? answer.value.state : answer.kind;
};
const stands = (page: Page, state: string) =>
  page.getByRole("region", { name: "How it stands" }).locator(".badge", { hasText: state });
const confirm = async (page: Page, verb: string): Promise<void> => {
  await page.getByRole("dialog").getByLabel("Reason").fill(`why ${verb.toLowerCase()}`);
  await page.getByRole("dialog").getByRole("button", { name: verb }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
};

skipUnless(describe, CHROMIUM)("the job queue in the console", () => {
  beforeAll(async () => {
    const { connect } = await testZooKeeper();
    const port = await freePort();
    [browser] = await Promise.all([launch()]);
    admin = await startAdmin(connect, { env: { JOB_API_URL: `http://127.0.0.1:${port}` } });
    bad = await plantBadJob(connect, "odd", "mail");
    api = await startJobApi(connect, port, admin);
    jobs = makeClient({ baseUrl: api.url, token: admin.tokens.admin });
    as = visitors(browser, admin);
    registrar = await testWorker(connect, "job-runner", { register: false });
    const workers = await openWorkers(registrar.session, systemClock.nowMs);
    if (!workers.ok) throw new Error(workers.why);
    const facts = { Name: "runner-1", InstanceId: "i-1", PrivateIp: "10.0.0.1", PublicIp: "", sysid: 1 };
    expect((await workers.workers.register(facts)).ok).toBe(true);
  });
  afterAll(async () => {
    await browser.close();
    await registrar.close();
    await api.stop();
    await admin.stop();
  });

  test("a job whose record cannot be read is shown with the reason and the bytes", async () => {
    await as("operator", `/queues/odd/jobs/${bad.id}`, async (page) => {
      await stands(page, "FAILED").waitFor();
      await page.getByText(/cannot be read \(job.*lane.*\)/).waitFor();
      await page.getByText(bad.text, { exact: true }).waitFor();
    });
  });

  test("a job is made, found, changed, run now, failed, requeued and deleted", async () => {
    let address = "";
    await as("operator", `/queues/${TENANT}`, async (page) => {
      await button(page, "New job").click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("textbox", { name: "Type" }).fill("tiles/cut");
      await dialog.getByLabel("Data").fill('{"zoom": ');
      await dialog.getByText("The data are no JSON").waitFor();
      await dialog.getByLabel("Data").fill('{"zoom": 7}');
      await dialog.getByLabel("Repeat").fill("FINISHED, +1 DAY, START OF DAY, +4 HOURS");
      await dialog.getByText("every day at 04:00 UTC").waitFor();
      await dialog.getByLabel("First run").fill("2038-01-02T03:04:05");
      await confirm(page, "Create");
      await page.getByLabel("State").selectOption("FAILED");
      await page.getByText("No job is like this.").waitFor();
      await page.getByLabel("State").selectOption("QUEUED");
      await page
        .getByRole("row", { name: /tiles\/cut/ })
        .last()
        .waitFor();
      await page
        .getByRole("table", { name: `Jobs of ${TENANT}` })
        .getByRole("link", { name: "tiles/cut" })
        .click();
      await stands(page, "QUEUED").waitFor();
      address = new URL(page.url()).pathname;
    });
    const id = Number(address.split("/").at(-1));
    await as("operator", address, async (page) => {
      await button(page, "Change").click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Data").fill('{"zoom": 8}');
      await dialog.getByLabel("Priority").selectOption("1000");
      await confirm(page, "Change");
      await page.getByRole("region", { name: "Data" }).getByText('"zoom": 8').waitFor();
      await button(page, "Run now").click();
      await confirm(page, "Run now");
      const taken = await waitFor(async () => {
        const answer = await jobs.call(JOBS.getJob, { params, body: { name: "tiles/*", worker: "w-1" } });
        return answer.ok && answer.value;
      });
      expect(taken).toMatchObject({ jobID: id, data: { zoom: 8 }, priority: 1000 });
      await stands(page, "RUNNING").waitFor();
      await page.getByText("in hand of w-1").waitFor();
      await button(page, "Fail").click();
      await confirm(page, "Fail");
      await stands(page, "FAILED").waitFor();
      await button(page, "Requeue").click();
      await confirm(page, "Requeue");
      await stands(page, "QUEUED").waitFor();
      await page.getByRole("region", { name: "Timeline" }).getByText("put back into the queue").waitFor();
      await button(page, "Delete").click();
      await confirm(page, "Delete");
    });
    expect(await stateOf(id)).toBe("refused");
    await as("viewer", `/audit?target=${TENANT}/${id}`, async (page) => {
      const row = (action: string) => page.getByRole("row", { name: action });
      for (const [action, verb] of [
        ["queue.UpdateJob (data, jobPriority)", "change"],
        ["queue.UpdateJob (nextRun)", "run now"],
        ["queue.FailJob", "fail"],
        ["queue.DeleteJob", "delete"],
      ] as const)
        await row(action).getByText(`why ${verb}`).waitFor();
      await row("queue.FailJob").getByText("operator").first().waitFor();
    });
  });

  test("what a run left behind, its parent and its children can be seen", async () => {
    const parent = await made({ name: "atlas" });
    const taken = valueOf(await jobs.call(JOBS.getJob, { params, body: { name: "atlas", worker: "w-1" } }));
    const child = await made({ name: "atlas/page", parentJobID: parent });
    await as("viewer", `/queues/${TENANT}/jobs/${parent}`, async (page) => {
      await page.getByRole("link", { name: String(child) }).click();
      await stands(page, "PAUSED").waitFor();
      await page.getByRole("link", { name: String(parent) }).click();
      await stands(page, "RUNNING").waitFor();
      expect(await button(page, "Fail").count()).toBe(0);
    });
    expect(taken.jobID).toBe(parent);
    const printed = await made({ name: "print" });
    const lease = valueOf(await jobs.call(JOBS.getJob, { params, body: { name: "print", worker: "w-2" } })).lease!;
    const result = '{"pages":12}';
    valueOf(await jobs.call(JOBS.finishJob, { params, body: { jobID: printed, lease, exitCode: 200, result } }));
    await as("viewer", `/queues/${TENANT}/jobs/${printed}`, async (page) => {
      await stands(page, "FINISHED").waitFor();
      await page.getByRole("region", { name: "Result of the last run" }).getByText('"pages": 12').waitFor();
      await page.getByRole("table", { name: "Runs that have ended" }).getByText("w-2").waitFor();
    });
  });

  test("schedules are told in words; the fleet's own are the admins' to change", async () => {
    const own = await made({ name: "fleet/snapshot", repeat: "HOURLY", firstRun: "2038-01-01" }, "system");
    const daily = await made({ name: "daily", repeat: "DAILY", firstRun: "2038-01-01" });
    const row = (page: Page, name: string) => page.getByRole("row", { name: new RegExp(name) });
    await as("operator", "/schedules", async (page) => {
      await row(page, "fleet/snapshot").getByText("every hour, counted from its end").waitFor();
      await row(page, "daily").getByRole("button", { name: "Run now" }).waitFor();
      expect(await row(page, "fleet/snapshot").getByRole("button").count()).toBe(0);
    });
    await as("admin", "/schedules?tenant=system", async (page) => {
      await row(page, "fleet/snapshot").getByRole("button", { name: "Delete" }).click();
      await confirm(page, "Delete");
      await page.getByText("No job repeats.").waitFor();
    });
    expect(valueOf(await jobs.call(JOBS.listJobs, { params: { tenant: "system" }, query: {} })).items).toEqual([]);
    expect([await stateOf(daily), own > 0]).toEqual(["QUEUED", true]);
  });

  test("handlers are added, replaced by a new version, looked at in all versions, and deleted", async () => {
    await as("operator", `/handlers?tenant=${TENANT}`, async (page) => {
      await button(page, "Add a handler").click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Type").fill("tiles/cut");
      await dialog.getByLabel("Body").fill("return 1;");
      await confirm(page, "Add");
      await page.getByRole("link", { name: "tiles/cut" }).click();
      await page.getByRole("region", { name: "Body" }).getByText("return 1;").waitFor();
      await button(page, "New version").click();
      await dialog.getByLabel("Body").fill("return 2;");
      await confirm(page, "Save");
      await page.getByRole("region", { name: "Body" }).getByText("return 2;").waitFor();
      await page.getByLabel("Version").selectOption("1");
      await page.getByRole("region", { name: "Body" }).getByText("return 1;").waitFor();
      await button(page, "Delete").click();
      await confirm(page, "Delete");
      await page.getByText("No handler:").waitFor();
    });
  });

  test("a runner's jobs are released at once", async () => {
    const id = await made({ name: "slow" });
    valueOf(await jobs.call(JOBS.getJob, { params, body: { name: "slow", worker: "runner-1" } }));
    await as("viewer", "/runners", async (page) => {
      await page.getByRole("row", { name: /runner-1.*ALIVE/ }).waitFor();
      expect(await button(page, /Release/).count()).toBe(0);
    });
    await as("operator", "/runners", async (page) => {
      await button(page, "Release the jobs of runner-1").click();
      await confirm(page, "Release");
    });
    expect(await stateOf(id)).toBe("QUEUED");
  });

  test("every page of it can be used by everybody and fits a phone", async () => {
    const id = await made({ name: "shown", repeat: "HOURLY", firstRun: "2038-01-01", data: { a: 1 } });
    const axe = await loadAxe();
    const { page, complaints, close } = await visit(browser, admin, "admin", { reducedMotion: "reduce" });
    const found: [string, readonly string[]][] = [];
    for (const path of [
      "/queues",
      `/queues/${TENANT}`,
      `/queues/${TENANT}/jobs/${id}`,
      "/schedules",
      "/handlers",
      "/runners",
    ]) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${admin.url}${path}`);
      await settled(page);
      found.push(...(await judgePage(page, axe, path)));
      await page.setViewportSize(PHONE);
      found.push([`${path}, phone`, await tooWide(page)]);
    }
    await page.goto(`${admin.url}/queues/${TENANT}`);
    await button(page, "New job").click();
    found.push(...(await judgePage(page, axe, "a dialog")));
    await close();
    expect(found.filter(([, each]) => each.length > 0)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
