/** Journals in folders of their own, on the real disk. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Journal, type JournalOptions, openJournal, type OpenReport } from "../src/index.ts";

export const BOUNDS = { maxRecords: 1_000, maxBytes: 1_000_000, segmentBytes: 100_000 };
export const AS_IT_SHOULD_BE: OpenReport = { cut: null, damaged: [], missing: [] };

/** A folder, and journals on it; `undo` closes and removes. */
export async function makeBench(bounds: Partial<JournalOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "sluice-journal-"));
  const clock = { now: 1_000, nowMs: () => clock.now };
  const open: Journal[] = [];
  const options: JournalOptions = { folder, clock, ...BOUNDS, ...bounds };
  const opened = async (): Promise<{ journal: Journal; report: OpenReport }> => {
    const result = await openJournal(options);
    if (!result.ok) throw new Error(result.problem);
    open.push(result.journal);
    return result;
  };
  const close = async (): Promise<void> => {
    for (const journal of open.splice(0)) await journal.close();
  };
  return {
    folder,
    clock,
    options,
    close,
    opened,
    open: async () => (await opened()).journal,
    /** As after the end of a process. */
    reopened: async () => {
      await close();
      return opened();
    },
    segments: async () => (await readdir(folder)).filter((name) => name.endsWith(".log")).sort(),
    undo: async () => {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
export type Bench = Awaited<ReturnType<typeof makeBench>>;

export const bytesOf = (text: string): Buffer => Buffer.from(text);

export async function appendAll(journal: Journal, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const answer = await journal.append(bytesOf(text));
    if (answer.kind !== "appended") throw new Error(`${text}: ${answer.kind}`);
  }
}

/** What waits, oldest first. */
export async function contents(journal: Journal): Promise<readonly string[]> {
  const records = await Promise.all(journal.waiting().map((number) => journal.read(number)));
  return records.map((record) => (record.kind === "record" ? record.data.toString() : record.kind));
}
