/** Everything that operators do to the queue, done with the console in a real Chromium. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { skipUnless } from "@sluice/local-parts";
import {
  actOnJob,
  beginOperation,
  type JobId,
  type OperationRecord,
  readBatch,
  readJob,
  readOperation,
  saveOperation,
} from "@sluice/queue-core";
import { advance, testZooKeeper, waitFor } from "@sluice/testkit";
import { ADMIN } from "@sluice/wire";
import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { gunzipSync } from "node:zlib";
import { COLLECTION, startAdmin, type TestAdmin, valueOf } from "../support.ts";
import { type As, button, CHROMIUM, launch, send, sendSurely, visitors, WHY } from "./browser.ts";
import { aReportedBatch, fail, type Holdings, OLGA, prepare } from "./holdings.ts";

let admin: TestAdmin;
let browser: Browser;
let connect: string;
let holdings: Holdings;
let as: As;

const stateOf = async (id: JobId): Promise<string> => {
  const view = await readJob(holdings.intake.session, id);
  return view.kind === "found" ? view.value.status.status : view.kind;
};
const lastAudit = async () =>
  valueOf(await admin.as("viewer").call(ADMIN.audit, { query: { limit: 1 } })).items[0] ?? null;
const stands = (page: Page, state: string) =>
  page.getByRole("region", { name: "How it stands" }).locator(".badge", { hasText: state });
const row = (page: Page, name: RegExp) => page.getByRole("row", { name });

skipUnless(describe, CHROMIUM)("with the console", () => {
  beforeAll(async () => {
    ({ connect } = await testZooKeeper());
    [holdings, browser] = await Promise.all([prepare(connect), launch()]);
    admin = await startAdmin(connect);
    as = visitors(browser, admin);
  });
  afterAll(async () => {
    await browser.close();
    await admin.stop();
    await holdings.close();
  });

  test("a job is held, released, given another priority, failed, resumed and deleted; who would not hear of it is said", async () => {
    const id = holdings.maps.jobs[1]!;
    await as("operator", `/jobs/${id}`, async (page) => {
      await button(page, "Hold").click();
      await send(page, "Hold");
      await button(page, "Release").click();
      await send(page, "Release");
      await button(page, "Change priority").click();
      await page.getByRole("dialog").getByLabel("Priority").fill("7");
      await send(page, "Change priority");
      await page.getByRole("region", { name: "Identifiers" }).getByText("07", { exact: true }).waitFor();
      await button(page, "Fail").click();
      await sendSurely(page, "Fail", /nobody is told .* neither callback nor address/, id);
      await page.getByRole("region", { name: "Timeline" }).getByText(`OPERATOR_FAILED: operator: ${WHY}`).waitFor();
      await button(page, "Resume").click();
      await send(page, "Resume");
      await page.getByRole("region", { name: "Timeline" }).getByText("resumed").waitFor();
      await button(page, "Hold").click();
      await send(page, "Hold");
      await button(page, "Delete").click();
      await sendSurely(page, "Delete", "will list it as deleted", id);
      await stands(page, "Deleted").waitFor();
    });
    expect(await stateOf(id)).toBe("Deleted");
    expect(await lastAudit()).toMatchObject({ actor: "operator", action: "job.delete", target: id, reason: WHY });
  });

  test("who comes too late is told who was faster", async () => {
    const id = holdings.maps.jobs[2]!;
    await as("operator", `/jobs/${id}`, async (page) => {
      await button(page, "Hold").click();
      await actOnJob(holdings.intake.ctx, { name: "otto", reason: "first" }, "hold", id);
      await send(page, "Hold");
      const refusal = page.getByRole("dialog").getByRole("alert");
      await refusal.filter({ hasText: "cannot be asked to hold (last changed by otto: hold" }).waitFor();
      await refusal.getByText("CONFLICT").waitFor();
    });
  });

  test("a failed batch whose job goes well in the end is reported on again", async () => {
    const { batch, jobs } = await aReportedBatch(holdings, "Second thoughts");
    await as("operator", `/jobs/${jobs[0]!}`, async (page) => {
      await button(page, "Resume").click();
      await send(page, "Resume");
      await button(page, "Fail").waitFor();
      await advance(connect, jobs[0]!, "Completed");
      await page.getByRole("link", { name: batch }).click();
      await button(page, "Update report").click();
      await send(page, "Update report");
      await page.getByText("UpdateReporting").first().waitFor();
    });
  });

  test("a failed batch that nobody can save is deleted, and cleaned up", async () => {
    const { batch } = await aReportedBatch(holdings, "Beyond saving");
    await as("operator", `/batches/${batch}`, async (page) => {
      await button(page, "Delete").click();
      await sendSurely(page, "Delete", "is given up for good, with all its jobs", batch);
      await button(page, "Clean up").click();
      await send(page, "Clean up");
      await page.getByText("the reporter cleans it up").waitFor();
    });
    const view = await readBatch(holdings.intake.session, batch);
    expect(view.kind === "found" && view.value.status.status).toBe("Deleted");
    expect(await lastAudit()).toMatchObject({ action: "batch.clean-up", target: batch });
  });

  test("the whole queue is paused until a time, in plain sight, and let go on", async () => {
    await as("operator", "/maintenance", async (page) => {
      await button(page, "Pause the whole queue").click();
      await page.getByRole("dialog").getByLabel("Until").fill("2099-01-01T06:00");
      await send(page, "Pause");
      await page
        .getByText(/Paused by operator, (just now|.* ago): asked for by the depositor \(ends in \d+ d\)/)
        .waitFor();
      await as("viewer", "/", async (home) => {
        await home
          .getByText(/queue is paused/i)
          .first()
          .waitFor();
      });
      await button(page, "Resume the whole queue").click();
      await send(page, "Resume");
      await page.getByText("Running.").waitFor();
    });
  });

  test("a stage is paused and a worker drained, and both let go on", async () => {
    const worker = holdings.intake.actor.worker;
    await as("operator", "/workers", async (page) => {
      await button(page, "Pause downloader").click();
      await send(page, "Pause");
      await row(page, /downloader/)
        .filter({ hasText: WHY })
        .waitFor();
      await button(page, "Resume downloader").click();
      await send(page, "Resume");
      await button(page, "Pause downloader").waitFor();
      await button(page, `Drain ${worker}`).click();
      await send(page, "Drain");
      await row(page, new RegExp(worker)).filter({ hasText: "drained by operator" }).waitFor();
      await button(page, `Undrain ${worker}`).click();
      await send(page, "Undrain");
      await button(page, `Drain ${worker}`).waitFor();
    });
  });

  test("all that a search and filters find are deleted: counted first, confirmed, with progress", async () => {
    const jobs = holdings.maps.jobs.slice(3, 5);
    for (const id of jobs) await fail(holdings.intake.ctx, id);
    await as("operator", "/jobs?state=Failed", async (page) => {
      await page.getByRole("searchbox").fill("MAP-");
      await page.getByText("All that “MAP-” finds here:").waitFor();
      await button(page, /^Delete …/).click();
      await page.getByText("would touch 2 jobs").waitFor();
      await sendSurely(page, "Delete 2 jobs", "lists it as deleted", "2");
      await page.getByText("2 done, 0 refused, of 2").waitFor();
    });
    expect(await Promise.all(jobs.map(stateOf))).toEqual(["Deleted", "Deleted"]);
  });

  test("an operation that still runs is stopped, with a reason that is in the audit", async () => {
    const { intake } = holdings;
    const { id } = await beginOperation(intake.ctx, OLGA, { action: "hold" }, [holdings.maps.jobs[5]!]);
    // Nobody is quick enough for an operation that small: it is under way again, with nobody working on it.
    await waitFor(async () => {
      const found = await readOperation(intake.session, id);
      if (found === null || found === "none" || found.record.state !== "done") return false;
      const { ended: _, ...record } = found.record;
      const running: OperationRecord = { ...record, state: "running" };
      return typeof (await saveOperation(intake.ctx, found, running)) !== "string";
    });
    await as("operator", `/operations/${encodeURIComponent(id)}`, async (page) => {
      await button(page, "Stop …").click();
      await send(page, "Stop");
      await page.getByRole("region", { name: "How far it is" }).getByText("stopped").waitFor();
    });
    expect(await lastAudit()).toMatchObject({ action: "bulk.stop", target: id, reason: WHY });
  });

  test("a faulty tree is found and repaired, and its nodes are looked at", async () => {
    const ghost = `/jobs/states/failed/05-${holdings.letters.jobs[0]!}`;
    await holdings.intake.session.multi([{ op: "create", path: ghost, data: Buffer.alloc(0) }]);
    await as("admin", "/maintenance", async (page) => {
      await button(page, "Check the tree").click();
      await row(page, new RegExp(ghost)).waitFor();
      await button(page, /^Repair \d+ findings? …/).click();
      await send(page, "Repair");
      await page.getByText(/repaired, 0 left/).waitFor();
      await page.locator(".badge", { hasText: "sound" }).waitFor();
      await page.getByRole("link", { name: "browse them" }).click();
      await page.getByRole("link", { name: "jobs", exact: true }).click();
      await page.getByRole("link", { name: holdings.maps.jobs[0]! }).waitFor();
    });
    const gone = await holdings.intake.session.exists(ghost);
    expect(gone.ok && gone.value).toBeNull();
  });

  test("a snapshot of the tree is downloaded", async () => {
    await as("operator", "/maintenance", async (page) => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        button(page, "Download a snapshot").click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/^sluice-tree-.*\.gz$/);
      const text = gunzipSync(await readFile(await download.path())).toString("utf8");
      expect(JSON.parse(text.split("\n")[0]!)).toMatchObject({ sluice: "tree-snapshot" });
    });
  });

  test("where events do not come through, pages ask now and then instead", async () => {
    await as("viewer", "/login", async (page) => {
      await page.route("**/v1/**/events", (route) => route.abort());
      await page.goto(`${admin.url}/jobs/${holdings.letters.jobs[1]!}`);
      await page.locator("[data-line=reconnecting]").waitFor();
      await page.getByRole("heading", { name: "letter-2.pdf" }).waitFor();
      await actOnJob(holdings.intake.ctx, OLGA, "hold", holdings.letters.jobs[1]!);
      await stands(page, "Held").waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
    });
  });

  test("a hold of a collection is shown where its jobs are", async () => {
    await as("operator", "/collections", async (page) => {
      await button(page, `Hold ${COLLECTION}`).click();
      await page.getByRole("dialog").getByLabel("Until").fill("2099-01-01T06:00");
      await send(page, "Hold");
      await row(page, new RegExp(COLLECTION)).filter({ hasText: "ends in" }).waitFor();
      await row(page, new RegExp(COLLECTION)).getByRole("link").first().click();
      await page.getByRole("link", { name: "map-1.tif" }).click();
      await page.getByText(`Collection ${COLLECTION} is held`).waitFor();
    });
  });
});
