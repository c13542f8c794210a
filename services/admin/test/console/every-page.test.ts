/** What must hold on every page: access, phones, the policy, the weight. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { skipUnless } from "@sluice/local-parts";
import { testZooKeeper } from "@sluice/testkit";
import type { Browser } from "playwright-core";
import { startAdmin, type TestAdmin } from "../support.ts";
import { judgePage, loadAxe, PHONE, settled, tooWide } from "./access.ts";
import { button, CHROMIUM, launch, visit } from "./browser.ts";
import { type Holdings, prepare } from "./holdings.ts";

const FIRST_VIEW_MAX_BYTES = 60_000;

let admin: TestAdmin;
let browser: Browser;
let holdings: Holdings;

const pages = (): readonly string[] => [
  "/",
  "/batches",
  `/batches/${holdings.maps.batch}`,
  `/batches/${holdings.reported}`,
  "/jobs",
  `/jobs/${holdings.maps.jobs[0]!}`,
  "/operations",
  "/collections",
  "/workers",
  "/audit",
  "/maintenance",
  "/nodes?path=/",
  "/tokens",
];

skipUnless(describe, CHROMIUM)("every page of the console", () => {
  beforeAll(async () => {
    const { connect } = await testZooKeeper();
    [holdings, browser] = await Promise.all([prepare(connect), launch()]);
    admin = await startAdmin(connect);
  });
  afterAll(async () => {
    await browser.close();
    await admin.stop();
    await holdings.close();
  });

  test("can be used by everybody, in the light and in the dark, and fits a phone of 360 px", async () => {
    const axe = await loadAxe();
    const { page, complaints, close } = await visit(browser, admin, "admin", { reducedMotion: "reduce" });
    const found: [string, readonly string[]][] = [];
    const judge = async (name: string): Promise<void> => void found.push(...(await judgePage(page, axe, name)));
    for (const path of pages()) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${admin.url}${path}`);
      await settled(page);
      await judge(path);
      await page.setViewportSize(PHONE);
      found.push([`${path}, phone`, await tooWide(page)]);
    }
    await button(page, "Menu").click();
    await page.getByRole("link", { name: "Jobs", exact: true }).click();
    await page.getByRole("link", { name: "map-2.tif" }).click();
    await button(page, "Fail").click();
    await judge("a dialog");
    await page.reload();
    await button(page, "Menu").click();
    await button(page, "Sign out").click();
    await page.getByLabel("Token").waitFor();
    await judge("login");
    await close();
    expect(found.filter(([, each]) => each.length > 0)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("comes with a policy that lets nothing in from outside, and the first view is light", async () => {
    const { page, close } = await visit(browser, admin, "viewer");
    let bytes = 0;
    const asked: string[] = [];
    page.on("requestfinished", (request) => {
      asked.push(new URL(request.url()).origin);
      if (!request.url().includes("/v1/"))
        void request.sizes().then(({ responseBodySize }) => (bytes += responseBodySize));
    });
    const answer = await page.goto(admin.url);
    await settled(page);
    await page.locator("[data-line=live]").waitFor();
    const policy = answer?.headers()["content-security-policy"] ?? "";
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect([...new Set(asked)]).toEqual([new URL(admin.url).origin]);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(FIRST_VIEW_MAX_BYTES);
    await close();
  });
});
