/** A real browser before a real admin, signed in as whoever is wanted. */
import type { Role } from "@sluice/access";
import { findTool } from "@sluice/local-parts";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { TestAdmin } from "../support.ts";

export const CHROMIUM = await findTool("chromium", {
  env: "CHROMIUM",
  paths: ["chromium-browser", "google-chrome"],
  aptPackage: "chromium",
});

/** No test runs an old console. */
export async function buildConsole(): Promise<void> {
  const script = fileURLToPath(new URL("../../console/build.mjs", import.meta.url));
  await promisify(execFile)(process.execPath, [script]);
}

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
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(10_000);
  if (role !== null) {
    const answer = await context.request.post(`${admin.url}/login`, { data: { token: admin.tokens[role] } });
    if (!answer.ok()) throw new Error(`no login: ${answer.status()}`);
  }
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // Refusals of the API are shown to people, and tested as such; the browser notes them too.
    const refused = message.text().startsWith("Failed to load") && /\/(v1\/|login)/.test(message.location().url);
    if (message.type() === "error" && !refused) complaints.push(message.text());
  });
  return { page, complaints, close: () => context.close() };
}
