/** What the services logged about a job, from their files: the ends of them, and not more than one can read. */
import { redactTokens } from "@sluice/access";
import { redactUrl } from "@sluice/safe-io";
import type { LogLine } from "@sluice/wire";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

const TAIL_BYTES = 4_000_000;
const FILES_MAX = 100;
const LINES_MAX = 500;

/** The last lines that name any of the ids, oldest first. */
export async function searchLogs(folder: string, ids: readonly string[]): Promise<LogLine[]> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => /\.log(\.\d+)?$/.test(name)).sort();
  const lines: LogLine[] = [];
  for (const name of names.slice(0, FILES_MAX)) {
    const text = await tailOf(join(folder, name));
    const service = name.replace(/\.log(\.\d+)?$/, "");
    for (const each of text.split("\n")) {
      const line = lineOf(each, ids, service);
      if (line !== null) lines.push(line);
    }
  }
  return lines.sort((a, b) => ((a.at ?? "") < (b.at ?? "") ? -1 : 1)).slice(-LINES_MAX);
}

async function tailOf(file: string): Promise<string> {
  const handle = await open(file, "r").catch(() => null);
  if (handle === null) return "";
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const buffer = Buffer.alloc(size - from);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** null: it is about something else. Logs hold no secrets; a line that somebody else wrote is still shown without. */
function lineOf(raw: string, ids: readonly string[], service: string): LogLine | null {
  if (!ids.some((id) => raw.includes(id))) return null;
  const shown = redactUrl(redactTokens(raw));
  const fields = parsed(shown);
  const text = (key: string): string | null => (typeof fields[key] === "string" ? fields[key] : null);
  const at = Date.parse(text("time") ?? "");
  return {
    at: Number.isNaN(at) ? null : new Date(at).toISOString(),
    level: text("level") ?? "",
    service: text("service") ?? service,
    message: [text("msg") ?? shown, ...factsOf(fields)].join("  "),
    raw: shown,
  };
}

/** Said elsewhere in the line's columns, or the same in all lines of one job. */
const SAID = new Set(["level", "time", "service", "stage", "worker", "job_id", "batch_id", "msg", "pid", "hostname"]);

/** The rest of what was logged, as `outcome=fail  to=Failed`: the words alone say little at 3 a.m. */
function factsOf(fields: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(fields)
    .filter(([key]) => !SAID.has(key))
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
