export { Journal, openJournal, type OpenedJournal } from "./journal.ts";
export { makeFolder, replaceFile } from "./folder.ts";
export { FAILPOINTS } from "./types.ts";
export type { Appended, Failpoint, JournalOptions, JournalStats, OpenReport, ReadRecord } from "./types.ts";
