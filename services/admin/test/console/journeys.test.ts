/** What people do with the console, in a real Chromium. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { skipUnless } from "@sluice/local-parts";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import { ADMIN } from "@sluice/wire";
import type { Browser, Page } from "playwright-core";
import { COLLECTION, startAdmin, type TestAdmin, valueOf } from "../support.ts";
import { type As, button, CHROMIUM, launch, send, visitors } from "./browser.ts";
import { fail, type Holdings, OTHER, prepare } from "./holdings.ts";

let admin: TestAdmin;
let browser: Browser;
let holdings: Holdings;
let as: As;

const basin = (page: Page, state: string) => page.locator("a.basin", { hasText: state });

skipUnless(describe, CHROMIUM)("in the console", () => {
  beforeAll(async () => {
    const { connect } = await testZooKeeper();
    [holdings, browser] = await Promise.all([prepare(connect), launch()]);
    admin = await startAdmin(connect);
    as = visitors(browser, admin);
  });
  afterAll(async () => {
    await browser.close();
    await admin.stop();
    await holdings.close();
  });

  test("a wrong token is refused, a right one lets in, and signing out ends it", async () => {
    await as(null, "/", async (page) => {
      await page.getByLabel("Token").fill("slc_wrong_token");
      await button(page, "Sign in").click();
      await page.getByRole("alert").filter({ hasText: "not known" }).waitFor();
      await page.getByLabel("Token").fill(admin.tokens.operator);
      await button(page, "Sign in").click();
      await page.getByRole("heading", { name: "The fleet" }).waitFor();
      expect(await page.evaluate("document.cookie")).toBe("");
      await button(page, "Sign out").click();
      await page.getByLabel("Token").waitFor();
      await page.reload();
      await page.getByLabel("Token").waitFor();
    });
  });

  test("the counts of the home page move by themselves", async () => {
    await as("viewer", "/", async (page) => {
      await page.locator("[data-line=live]").waitFor();
      await basin(page, "Failed").filter({ hasText: "1" }).waitFor();
      await fail(holdings.intake.ctx, holdings.maps.jobs[5]!);
      await basin(page, "Failed").filter({ hasText: "2" }).waitFor();
      await page.getByText(`${OTHER} is held`).waitFor();
      await page.getByText("the disk was full").first().waitFor();
      await page.getByText("2 Failed").or(page.getByText("Recent failures by reason")).first().waitFor();
    });
  });

  test("filters stand in the address, which can be given to somebody else", async () => {
    await as("viewer", "/jobs", async (page) => {
      await page.getByRole("row", { name: /letter-1/ }).waitFor();
      await page.getByLabel("State").selectOption("Failed");
      await page.getByLabel(/^Collection/).selectOption(COLLECTION);
      await page.getByRole("row", { name: /letter-1/ }).waitFor({ state: "detached" });
      await page.getByRole("row", { name: /map-6/ }).waitFor();
      const address = new URL(page.url());
      expect([...address.searchParams]).toEqual([
        ["state", "Failed"],
        ["profile", COLLECTION],
      ]);
      await as("operator", `${address.pathname}${address.search}`, async (other) => {
        await other.getByRole("row", { name: /map-6/ }).waitFor();
        expect(await other.getByRole("row", { name: /letter|map-1/ }).count()).toBe(0);
        expect(await other.getByLabel("State").inputValue()).toBe("Failed");
      });
      await page.goBack();
      expect(new URL(page.url()).search).toBe("?state=Failed");
    });
  });

  test("a search finds a job by its file's name", async () => {
    await as("viewer", "/jobs", async (page) => {
      await page.getByRole("row", { name: /map-1/ }).waitFor();
      await page.getByRole("searchbox").fill("LETTER-2");
      await page.getByRole("row", { name: /map-1/ }).waitFor({ state: "detached" });
      await page.getByRole("row", { name: /letter-2/ }).waitFor();
      expect(page.url()).toContain("q=LETTER-2");
    });
  });

  test("a job tells its story: states, who, when", async () => {
    await as("viewer", `/jobs/${holdings.maps.jobs[0]!}`, async (page) => {
      const steps = page.getByRole("region", { name: "Timeline" }).getByRole("listitem");
      await steps.filter({ hasText: "Pending done" }).filter({ hasText: "intake-1" }).waitFor();
      await steps.last().filter({ hasText: "Estimating" }).waitFor();
    });
  });

  test("an operator holds a collection and releases it, with a reason that is in the audit", async () => {
    await as("operator", "/collections", async (page) => {
      await button(page, `Hold ${COLLECTION}`).click();
      await send(page, "Hold");
      await page
        .getByRole("row", { name: new RegExp(COLLECTION) })
        .filter({ hasText: "asked for by" })
        .waitFor();
      await button(page, `Release ${COLLECTION}`).click();
      await send(page, "Release");
      await page
        .getByRole("row", { name: new RegExp(COLLECTION) })
        .filter({ hasText: "not held" })
        .waitFor();
      await page.getByRole("link", { name: "Audit" }).click();
      await page
        .getByRole("row", { name: /asked for by the depositor/ })
        .first()
        .waitFor();
      await button(page, "Check the chain").click();
      await page.getByText(/whole: \d+ records/).waitFor();
    });
  });

  test("many jobs are resumed after a preview of them, with progress", async () => {
    const jobs = holdings.maps.jobs.slice(2, 4);
    for (const id of jobs) await fail(holdings.intake.ctx, id);
    await as("operator", `/jobs?state=Failed&batch=${holdings.maps.batch}`, async (page) => {
      await page.getByRole("row", { name: /map-3/ }).waitFor();
      for (const id of jobs) await page.getByLabel(`Select ${id}`).check();
      await page.getByText("2 selected:").waitFor();
      await button(page, /^Resume …/).click();
      await page.getByText("would touch 2 jobs").waitFor();
      await send(page, "Resume 2 jobs");
      await page.getByRole("heading", { name: "Resume 2 jobs" }).waitFor();
      await page.getByText("2 done, 0 refused, of 2").waitFor();
      await page.getByText("asked for by the depositor").waitFor();
    });
    const states = await Promise.all(
      jobs.map(async (id) => valueOf(await admin.as("viewer").call(ADMIN.job, { params: { id } })).status),
    );
    expect(states).toEqual(["Pending", "Pending"]);
  });

  test("an admin makes a token, sees its secret once, and revokes it", async () => {
    await as("admin", "/tokens", async (page) => {
      await button(page, "Make a token").click();
      await page.getByRole("dialog").getByLabel("Name").fill("reading room");
      await page.getByRole("dialog").getByLabel("Role").selectOption("viewer");
      await page.getByRole("dialog").getByLabel("Collections").fill("*");
      await send(page, "Make it");
      await page.getByText(/^slc_/).waitFor();
      await page.getByRole("row", { name: /reading room/ }).waitFor();
      await button(page, "Revoke reading room").click();
      await send(page, "Revoke");
      await page.getByRole("row", { name: /reading room/ }).waitFor({ state: "detached" });
    });
  });

  test("a viewer finds nothing to change", async () => {
    const job = holdings.maps.jobs[5]!;
    for (const path of [
      "/",
      "/jobs?state=Failed",
      `/jobs/${job}`,
      `/batches/${holdings.reported}`,
      "/collections",
      "/workers",
    ])
      await as("viewer", path, async (page) => {
        await page.locator("[data-line=live], [data-line=over]").waitFor();
        await page.getByText("Loading …").first().waitFor({ state: "detached" });
        const names = await page.locator("main").getByRole("button").allInnerTexts();
        expect(names.filter((name) => !/[↕↑↓]/.test(name) && name.trim() !== "")).toEqual([]);
        expect(await page.getByRole("checkbox").count()).toBe(0);
      });
  });

  test("a depositor sees their own batches, what failed and what to do, and nothing of others", async () => {
    await as("depositor", "/", async (page) => {
      await page.getByRole("heading", { name: "My batches" }).waitFor();
      await page.getByRole("row", { name: /Maps of the delta/ }).waitFor();
      await page.getByText("What happened:").first().waitFor();
      expect(await page.getByText("Letters home").count()).toBe(0);
      const pages = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts();
      expect(pages).toEqual(["My batches", "Batches", "Jobs", "Collections"]);
    });
    await as("depositor", `/batches/${holdings.letters.batch}`, async (page) => {
      await page.getByRole("alert").waitFor();
      expect(await page.getByText("Letters home").count()).toBe(0);
    });
    await as("depositor", "/workers", async (page) => {
      await page.getByRole("heading", { name: "Not here" }).waitFor();
    });
  });

  test("everything can be reached by keys", async () => {
    await as("operator", "/", async (page) => {
      await page.locator("[data-line=live]").waitFor();
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
      await page.keyboard.press("Enter");
      expect(await page.evaluate("document.activeElement.id")).toBe("main");
      await page.keyboard.press("g");
      await page.keyboard.press("j");
      await page.getByRole("heading", { name: "Jobs" }).waitFor();
      await page.keyboard.press("/");
      expect(await page.evaluate("document.activeElement.type")).toBe("search");
      await page.keyboard.type("map-1");
      await page.keyboard.press("Enter");
      await page.getByRole("row", { name: /map-2/ }).waitFor({ state: "detached" });
      await page.getByRole("link", { name: "map-1.tif" }).focus();
      await page.keyboard.press("Enter");
      await button(page, "Fail").focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: /^Fail/ });
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await waitFor(async () => (await page.evaluate("document.activeElement.textContent")) === "Fail");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
    });
  });
});
