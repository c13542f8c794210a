/** Journals of jobs in folders of their own, on the real disk. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JobJournal, type JobJournalOptions, openJobJournal, type ReadLines, showLine } from "../src/index.ts";

export const NOW = Date.parse("2026-11-16T13:00:00.000Z");
export const TYPE = { tenant: "acme", name: "resize" };

/** A folder, and journals on it; `undo` closes and removes. */
export async function makeBench(more: Partial<JobJournalOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "sluice-job-journal-"));
  const clock = { now: NOW, nowMs: () => clock.now };
  const bad: string[] = [];
  const log = {
    badLine: ({ id, why }: { readonly id: number; readonly why: string }) => void bad.push(`${id}: ${why}`),
    badRecord: ({ record, why }: { readonly record: number; readonly why: string }) =>
      void bad.push(`record ${record}: ${why}`),
    opened: () => undefined,
  };
  const options = { folder, clock, log, maxBytes: 1_000_000, segmentBytes: 100_000, ...more };
  const open: JobJournal[] = [];
  const close = async (): Promise<void> => {
    for (const journal of open.splice(0)) await journal.close();
  };
  return {
    folder,
    clock,
    bad,
    options,
    close,
    /** Without ids. */
    async bare(): Promise<JobJournal> {
      const opened = await openJobJournal(options);
      if (!opened.ok) throw new Error(opened.problem);
      open.push(opened.journal);
      return opened.journal;
    },
    /** With ids 1 to 1000, and those of the next block of shard 0. */
    async open(): Promise<JobJournal> {
      const journal = await this.bare();
      await journal.addIds(1, 1000);
      await journal.addIds(16_001, 17_000);
      return journal;
    },
    /** As after the end of a process. */
    async reopened(): Promise<JobJournal> {
      await close();
      return this.bare();
    },
    segments: async () => (await readdir(join(folder, "log"))).filter((name) => name.endsWith(".log")),
    undo: async () => {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
export type Bench = Awaited<ReturnType<typeof makeBench>>;

export const payloads = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => `payload ${from + n}`);

export async function written(
  journal: JobJournal,
  lines: readonly (string | Uint8Array)[],
): Promise<readonly number[]> {
  const answer = await journal.write(TYPE, lines);
  if (answer.kind !== "written") throw new Error(answer.kind);
  return answer.ids;
}

/** The payloads, or why there are none. */
export const shown = (read: ReadLines): readonly string[] | string =>
  read.ok ? read.lines.map(({ payload }) => payload.toString()) : read.why;

export const taken = async (journal: JobJournal, lines: number, timeoutMs = 1000) => {
  const token = journal.readReserve(lines, timeoutMs);
  return { token, lines: shown(await journal.read(token)) };
};

/** Everything that waits, in the document's form. */
export async function everything(journal: JobJournal): Promise<readonly string[]> {
  const read = await journal.read(journal.readReserve(100_000, 1));
  return read.ok ? read.lines.map(showLine) : [];
}
