export { Journal, openJournal, type OpenedJournal } from "./journal.ts";
export { makeFolder, replaceFile, syncFolder } from "./folder.ts";
export { type Ownership, takeOwnership } from "./owner.ts";
export { Position } from "./position.ts";
export { FAILPOINTS } from "./types.ts";
export type { Appended, Failpoint, JournalOptions, JournalStats, OpenReport, ReadRecord } from "./types.ts";
