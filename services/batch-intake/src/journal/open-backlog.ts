/** Opens the journal and all that belongs to it, and says what was found. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Journal, openJournal, replaceFile } from "@sluice/journal";
import { batchFolder } from "@sluice/queue-core";
import type { Failpoint, Log } from "@sluice/stage-runtime";
import type { Clock } from "@sluice/zookeeper";
import type { IntakeConfig } from "../config.ts";
import { type KeptUploads, openKeptUploads } from "../files/kept-uploads.ts";
import { Backlog, entryOf } from "./backlog.ts";
import { InHand } from "./in-hand.ts";
import { keptFolder } from "./ingest.ts";
import { RefusedArea } from "./refused.ts";

export interface OpenBacklog {
  readonly journal: Journal;
  readonly backlog: Backlog;
  readonly refused: RefusedArea;
  readonly inHand: InHand;
  readonly uploads: KeptUploads;
  readonly failpoint: Failpoint;
  /** Records that were answered for and are not there any more. */
  readonly missing: number;
}

type JournalSettings = Pick<
  IntakeConfig,
  "JOURNAL_DIR" | "JOURNAL_MAX_BYTES" | "JOURNAL_MAX_RECORDS" | "JOURNAL_SEGMENT_BYTES" | "WORKING_DIR"
>;

/** Rejects, with a sentence for the operator, when another process has the journal or it cannot be read. */
export async function openBacklog(
  config: JournalSettings,
  { clock, log, failpoint }: { readonly clock: Clock; readonly log: Log; readonly failpoint: Failpoint },
): Promise<OpenBacklog> {
  const folder = config.JOURNAL_DIR;
  const opened = await openJournal({
    folder,
    maxBytes: config.JOURNAL_MAX_BYTES,
    maxRecords: config.JOURNAL_MAX_RECORDS,
    segmentBytes: config.JOURNAL_SEGMENT_BYTES,
    clock,
    failpoint,
  });
  if (!opened.ok) throw new Error(opened.problem);
  const { journal, report } = opened;
  const refused = await RefusedArea.open(join(folder, "refused"));
  const uploads = await openKeptUploads(config.WORKING_DIR, await nameOf(folder));
  const inHand = await InHand.open(folder);
  const named = report.damaged.length === 0 && report.missing.length === 0 ? await uploadsIn(journal, inHand) : null;
  const unanswered = named === null ? 0 : await uploads.giveBackAllBut(named.folders);
  if (named !== null) await uploads.needOnly(named.numbered);
  const missing = report.missing.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const { records: waiting } = journal.stats();
  log.info({ folder, waiting, refused: refused.size, unanswered, cut: report.cut }, "journal opened");
  if (report.damaged.length > 0 || missing > 0) log.error({ folder, ...report }, "the journal is damaged");
  const backlog = await Backlog.over(journal, refused, failpoint);
  return { journal, backlog, refused, uploads, failpoint, missing, inHand };
}

/** A journal has a name of its own: several share the working folder. */
async function nameOf(folder: string): Promise<string> {
  const known = await readFile(join(folder, "name"), "utf8").catch(() => "");
  if (known !== "") return known;
  const name = randomUUID();
  await replaceFile(folder, "name", name);
  return name;
}

interface NamedUploads {
  /** That wait for a number. */
  readonly folders: ReadonlySet<string>;
  /** Of batches: uploads are in them, or are about to be. */
  readonly numbered: ReadonlySet<string>;
}

/** null when a record cannot be read: nobody knows then which folders are nobody's. */
async function uploadsIn(journal: Journal, inHand: InHand): Promise<NamedUploads | null> {
  const [folders, numbered] = [new Set<string>(), new Set<string>()];
  for (const number of journal.waiting()) {
    const entry = entryOf(await journal.read(number));
    if (entry === null) return null;
    if (entry.upload === null) continue;
    folders.add(keptFolder(entry.uuid, entry.upload));
    for (const place of [inHand.of(number), entry.upload.kind === "numbered" ? entry.upload : null])
      if (place !== null) numbered.add(batchFolder({ batchId: place.batch, batchEpoch: place.epoch }));
  }
  return { folders, numbered };
}
