/** Whether everybody can use a page: judged by axe in the browser, in both themes, and by its width on a phone. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

export const PHONE = { width: 360, height: 740 };

export const loadAxe = (): Promise<string> =>
  readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function settled(page: Page): Promise<void> {
  await page.locator("main h1").waitFor();
  await page.getByText("Loading …").first().waitFor({ state: "detached" });
}

interface AxeFinding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Runs inside the page by the debugger's door: the policy keeps scripts out, not this one. */
async function findings(page: Page, rules: string): Promise<readonly string[]> {
  const { violations } = await page.evaluate<{ violations: readonly AxeFinding[] }>(`axe.run(document, ${rules})`);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""} ${nodes[0]?.failureSummary ?? ""}`);
}

export type Judgement = [string, readonly string[]];

export async function judgePage(page: Page, axe: string, name: string): Promise<readonly Judgement[]> {
  await page.evaluate(axe);
  await page.emulateMedia({ colorScheme: "light" });
  const light = await findings(page, "{}");
  // Between the themes only colours differ.
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await findings(page, '{ runOnly: ["color-contrast"] }');
  return [
    [`${name}, light`, light],
    [`${name}, dark`, dark],
  ];
}

export async function tooWide(page: Page): Promise<readonly string[]> {
  const width = await page.evaluate<number>("document.documentElement.scrollWidth");
  return width > PHONE.width ? [`${width} px wide`] : [];
}
