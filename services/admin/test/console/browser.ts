/** A real browser before a real admin, signed in as whoever is wanted. */
import { expect } from "@jest/globals";
import type { Role } from "@sluice/access";
import { findTool } from "@sluice/local-parts";
import { WAIT_LIMIT_MS } from "@sluice/testkit";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import type { TestAdmin } from "../support.ts";

export const CHROMIUM = await findTool("chromium", {
  env: "CHROMIUM",
  paths: ["chromium-browser", "google-chrome"],
  part: "chromium",
});

export async function launch(): Promise<Browser> {
  if ("skip" in CHROMIUM) throw new Error(CHROMIUM.skip);
  return await chromium.launch({ executablePath: CHROMIUM.path, args: ["--no-sandbox"] });
}

export interface Visit {
  readonly page: Page;
  /** What the browser complained about: errors of scripts, whatever the policy forbids. */
  readonly complaints: readonly string[];
  readonly close: () => Promise<void>;
}

/** `role` null: nobody has signed in. */
export async function visit(
  browser: Browser,
  admin: TestAdmin,
  role: Role | null,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await signedIn(browser, admin, role, options);
  return { ...(await open(context)), close: () => context.close() };
}

async function signedIn(
  browser: Browser,
  admin: TestAdmin,
  role: Role | null,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  if (role === null) return context;
  const answer = await context.request.post(`${admin.url}/login`, { data: { token: admin.tokens[role] } });
  if (!answer.ok()) throw new Error(`no login: ${answer.status()}`);
  return context;
}

async function open(context: BrowserContext): Promise<Pick<Visit, "page" | "complaints">> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // Refusals of the API are shown to people, and tested as such; the browser notes them too.
    const refused = message.text().startsWith("Failed to load") && /\/(v1\/|login)/.test(message.location().url);
    if (message.type() === "error" && !refused) complaints.push(message.text());
  });
  return { page, complaints };
}

export type As = (role: Role | null, path: string, look: (page: Page) => Promise<void>) => Promise<void>;

/** Pages of a console, each looked at by somebody; whoever has signed in stays so. */
export function visitors(browser: Browser, admin: TestAdmin): As {
  const contexts = new Map<Role, Promise<BrowserContext>>();
  const contextOf = (role: Role | null): Promise<BrowserContext> => {
    if (role === null) return signedIn(browser, admin, null);
    const known = contexts.get(role) ?? signedIn(browser, admin, role);
    contexts.set(role, known);
    return known;
  };
  return async (role, path, look) => {
    const { page, complaints } = await open(await contextOf(role));
    try {
      await page.goto(`${admin.url}${path}`);
      await look(page);
      expect(complaints).toEqual([]);
    } finally {
      await page.close();
    }
  };
}

export const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole("button", { name, exact: typeof name === "string" });

export const WHY = "asked for by the depositor";

/** Fills in why, and sends the dialog that is open. */
export async function send(page: Page, verb: string | RegExp): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill(WHY);
  await dialog.getByRole("button", { name: verb }).click();
}

/** The same where the server asks whether one is sure: what it says must be read, and `word` be typed. */
export async function sendSurely(page: Page, verb: string | RegExp, why: string | RegExp, word: string): Promise<void> {
  await send(page, verb);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("alert").filter({ hasText: why }).waitFor();
  expect(await dialog.getByRole("button", { name: verb }).isDisabled()).toBe(true);
  await dialog.getByLabel(/to confirm/).fill(word);
  await dialog.getByRole("button", { name: verb }).click();
  await dialog.waitFor({ state: "detached" });
}
