/** Deposits for later and tokens that end, in a real browser before a real admin, intake, job-api and runner. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { makeClient } from "@sluice/client";
import { skipUnless } from "@sluice/local-parts";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import { ADMIN, INTAKE } from "@sluice/wire";
import type { Browser, Page } from "playwright-core";
import { PROFILE } from "../../../../tests/support/fleet.ts";
import { type ScheduleFleet, startScheduleFleet } from "../../../../tests/support/schedules.ts";
import { startAdmin, type TestAdmin, valueOf } from "../support.ts";
import { judgePage, loadAxe, PHONE, settled, tooWide } from "./access.ts";
import { button, CHROMIUM, launch, visit, type Visit } from "./browser.ts";

const SECRET = "X-Amz-Signature=5ecret";
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const ADAS_END = inDays(5);

let house: ScheduleFleet;
let admin: TestAdmin;
let browser: Browser;
let tokens: Readonly<Record<"ada" | "bob" | "rita", string>>;

/** As whoever has this token. */
const as = (token: string): Promise<Visit> =>
  visit(browser, { ...admin, tokens: { ...admin.tokens, depositor: token } }, "depositor", {
    reducedMotion: "reduce",
  });

async function scheduled(token: string, more: object): Promise<number> {
  const body = { profile: PROFILE, payload_url: `https://content.example/a.checkm?${SECRET}`, ...more };
  const intake = makeClient({ baseUrl: house.intake.url, token });
  return valueOf(await intake.call(INTAKE.submitBatch, { body })).job!;
}

const row = (page: Page, id: number) => page.getByRole("row", { name: new RegExp(String(id)) });

skipUnless(describe, CHROMIUM)("the console", () => {
  beforeAll(async () => {
    const { connect } = await testZooKeeper();
    [browser, house] = await Promise.all([launch(), startScheduleFleet({ zookeeper: connect })]);
    admin = await startAdmin(connect, {
      env: { AUTH_TOKENS_FILE: house.tokens.file, INTAKE_URL: house.intake.url, JOB_API_URL: house.jobApi.url },
    });
    tokens = {
      ada: await house.tokens.give({ name: "Ada", expires: ADAS_END }),
      bob: await house.tokens.give({ name: "Bob" }),
      rita: await house.tokens.give({ name: "Rita", role: "admin", collections: ["*"] }),
    };
  });
  afterAll(async () => {
    await browser.close();
    await admin.stop();
    await house.stop();
  });

  test("shows depositors their own deposits for later, how they ended, and cancels them when they say so twice", async () => {
    const done = await scheduled(tokens.ada, { repeat: "FINISHED, +1 DAY" });
    const later = await scheduled(tokens.ada, { firstRun: "2038-01-02T03:04:05Z" });
    const bobs = await scheduled(tokens.bob, { firstRun: "2038-01-02T03:04:05Z" });
    const { page, complaints, close } = await as(tokens.ada);
    await page.goto(admin.url);
    await page.getByRole("link", { name: "My schedules" }).click();
    await row(page, done).getByText("200").waitFor();
    await row(page, done)
      .getByText(/bid\d{10}/)
      .waitFor();
    await row(page, done).getByText("every day").waitFor();
    await row(page, done).getByText(`to ${PROFILE}`).waitFor();
    await row(page, later).getByText("once").waitFor();
    expect(await row(page, bobs).count()).toBe(0);
    const text = (await page.locator("body").textContent()) ?? "";
    expect(text).toContain("https://content.example/a.checkm");
    expect(text).not.toContain("5ecret");
    await button(page, `Cancel deposit ${later}`).click();
    await button(page, "Cancel").click();
    await row(page, later).waitFor();
    await button(page, `Cancel deposit ${later}`).click();
    await page.getByRole("dialog").getByText("What it has submitted stays.").waitFor();
    await button(page, "Cancel the deposit").click();
    await row(page, later).waitFor({ state: "detached" });
    const left = await makeClient({ baseUrl: house.intake.url, token: tokens.ada }).call(INTAKE.listSchedules, {});
    expect(valueOf(left).items.map(({ id }) => id)).toEqual([done]);
    const kept = await makeClient({ baseUrl: house.intake.url, token: tokens.bob }).call(INTAKE.listSchedules, {});
    expect(valueOf(kept).items.map(({ id }) => id)).toEqual([bobs]);
    await close();
    expect(complaints).toEqual([]);
  });

  test("says why a deposit for later was refused, and is for everybody and for phones", async () => {
    const refused = await scheduled(tokens.bob, { repeat: "FINISHED, +1 SECOND" });
    await house.tokens.change("Bob", { collections: ["other_content"] });
    const { page, complaints, close } = await as(tokens.bob);
    await page.goto(`${admin.url}/my-schedules`);
    await row(page, refused).getByText("it has ended").waitFor();
    await row(page, refused).getByText(`Bob may no longer submit to ${PROFILE}`).waitFor();
    await settled(page);
    const found = [...(await judgePage(page, await loadAxe(), "/my-schedules"))];
    await page.setViewportSize(PHONE);
    found.push(["phone", await tooWide(page)]);
    expect(found.filter(([, each]) => each.length > 0)).toEqual([]);
    await close();
    expect(complaints).toEqual([]);
  });

  test("tells admins which tokens end, when, and what to do; and nobody else", async () => {
    const { page, complaints, close } = await as(tokens.rita);
    const end = ADAS_END.slice(0, 10);
    const adas = new RegExp(`The depositor token of Ada ends in 4 d \\(${end}\\).*token file \\(AUTH_TOKENS_FILE\\)`);
    for (const path of ["/", "/tokens"]) {
      await page.goto(`${admin.url}${path}`);
      const line = page.getByRole("list", { name: "Tokens that end soon" }).getByRole("listitem");
      await line.filter({ hasText: adas }).waitFor();
      expect(await line.count()).toBe(1);
      await settled(page);
      expect((await judgePage(page, await loadAxe(), path)).filter(([, each]) => each.length > 0)).toEqual([]);
    }
    await close();
    const others = await as(await house.tokens.give({ name: "Vera", role: "viewer", collections: ["*"] }));
    const asked: string[] = [];
    others.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await others.page.goto(admin.url);
    await others.page.getByRole("heading", { name: "The fleet" }).waitFor();
    await settled(others.page);
    expect(await others.page.getByRole("list", { name: "Tokens that end soon" }).count()).toBe(0);
    expect(asked).not.toContain("/v1/tokens/ending");
    await others.close();
    expect([...complaints, ...others.complaints]).toEqual([]);
    // Its end is moved in the file: the line goes without a restart.
    await house.tokens.change("Ada", { expires: inDays(100) });
    const root = makeClient({ baseUrl: admin.url, token: tokens.rita });
    await waitFor(async () => {
      return valueOf(await root.call(ADMIN.endingTokens, {})).items.length === 0;
    });
  });
});
