import { createHash } from "node:crypto";
import type { FleetSurvey, StageSurvey } from "./survey.ts";

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;margin:0 0 1.5rem}caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.2rem 1rem .2rem 0;text-align:left;border-bottom:1px solid #ddd}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.warn{color:#a40000;font-weight:600}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th,td{border-color:#444}.warn{color:#ff8a80}}`;

/** Nothing is loaded and nothing runs: one style sheet, known by its digest. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const REFRESH_SECONDS = 5;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => ENTITIES[c] ?? c);

export function queuePage(survey: FleetSurvey | null): string {
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${REFRESH_SECONDS}"><title>Sluice</title><style>${STYLE}</style></head>
<body><h1>Sluice</h1>
${survey === null ? '<p class="warn">ZooKeeper does not answer. Nothing is lost; work goes on when it is back.</p>' : fleet(survey)}
<p><a href="/docs">The operators' API</a></p></body></html>
`;
}

const fleet = (survey: FleetSurvey): string =>
  [
    holdsLine(survey),
    table(
      "Stages",
      ["Stage", "Takes from"],
      ["Waiting", "Ready", "Oldest ready", "Workers"],
      survey.stages.map(stageRow),
    ),
    table("Jobs", ["State"], ["Jobs"], Object.entries(survey.jobs).map(countRow)),
    table("Batches", ["State"], ["Batches"], Object.entries(survey.batches).map(countRow)),
    `<p>As of ${new Date(survey.atMs).toISOString()}</p>`,
  ].join("\n");

function holdsLine({ holds }: FleetSurvey): string {
  const lines = [
    ...(holds.queuePaused ? ["the queue is paused"] : []),
    ...[...holds.pausedStages].sort().map((stage) => `${stage} is paused`),
    ...[...holds.collections].sort().map((collection) => `collection ${collection} is held`),
  ];
  return lines.length === 0
    ? "<p>Nothing is paused or held.</p>"
    : `<p class="warn">${escapeHtml(lines.join("; "))}</p>`;
}

interface Row {
  readonly words: readonly string[];
  readonly numbers: readonly string[];
}

function stageRow({ stage, state, waiting, ready, exact, oldestReadyAgeMs, workers, paused }: StageSurvey): Row {
  const numbers = [String(waiting), `${exact ? "" : "≈ "}${ready}`, age(oldestReadyAgeMs), String(workers)];
  return { words: [paused ? `${stage} (paused)` : stage, state ?? "batches"], numbers };
}

const countRow = ([state, count]: readonly [string, number]): Row => ({ words: [state], numbers: [String(count)] });

const table = (caption: string, words: readonly string[], numbers: readonly string[], rows: readonly Row[]): string => {
  const line = (cell: "th" | "td", row: Row): string =>
    `<tr>${row.words.map((text) => `<${cell}>${escapeHtml(text)}</${cell}>`).join("")}${row.numbers.map((text) => `<${cell} class="n">${escapeHtml(text)}</${cell}>`).join("")}</tr>`;
  return `<table><caption>${caption}</caption><thead>${line("th", { words, numbers })}</thead><tbody>${rows.map((row) => line("td", row)).join("\n")}</tbody></table>`;
};

function age(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
