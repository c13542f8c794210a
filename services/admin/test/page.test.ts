import { describe, expect, test } from "@jest/globals";
import { createHash } from "node:crypto";
import { PAGE_POLICY, queuePage } from "../src/page.ts";
import type { FleetSurvey } from "../src/survey.ts";

const SURVEY = {
  fleetId: "f",
  atMs: Date.UTC(2024, 4, 1),
  jobs: { Pending: 3, Failed: 1 },
  batches: { Processing: 2 },
  stages: [
    {
      stage: "estimator",
      state: "Estimating",
      waiting: 900,
      ready: 850,
      exact: false,
      oldestReadyAgeMs: 7_300_000,
      workers: 2,
      paused: false,
    },
    {
      stage: "reporter",
      state: null,
      waiting: 0,
      ready: 0,
      exact: true,
      oldestReadyAgeMs: 0,
      workers: 0,
      paused: true,
    },
  ],
  holds: { queuePaused: false, pausedStages: new Set(["reporter"]), collections: new Set(["<b>_content"]) },
} as unknown as FleetSurvey;

describe("the page", () => {
  test("shows every stage, and says which of its numbers are reckoned", () => {
    const page = queuePage(SURVEY);
    expect(page).toContain(
      '<td>estimator</td><td>Estimating</td><td class="n">900</td><td class="n">≈ 850</td><td class="n">2 h</td><td class="n">2</td>',
    );
    expect(page).toContain("<td>reporter (paused)</td><td>batches</td>");
  });

  test("says what is paused and held, and lets no name become markup", () => {
    expect(queuePage(SURVEY)).toContain("reporter is paused; collection &lt;b&gt;_content is held");
  });

  test("runs nothing, loads nothing, and its one style is the one its policy names", () => {
    const page = queuePage(SURVEY);
    const style = /<style>([^]*)<\/style>/.exec(page)![1]!;
    expect(PAGE_POLICY).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    expect(page).not.toMatch(/<script|<img|<link|src=|style=|https?:/);
  });

  test("says so when ZooKeeper does not answer", () => {
    expect(queuePage(null)).toContain("ZooKeeper does not answer");
  });
});
