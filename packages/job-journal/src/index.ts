export { type BadLine, type Line, showLine } from "./batch-text.ts";
export { type Ingest, type IngestHooks, type IngestPorts, startIngest } from "./ingest.ts";
export { JobJournal, openJobJournal, type OpenedJobJournal } from "./job-journal.ts";
export { JobJournals, type JobJournalsOptions, openJobJournals, type OpenedJobJournals } from "./job-journals.ts";
export { ADD_STATUS, type JournaledAdds, journaledAdds } from "./journaled-adds.ts";
export type { Later, Outcome, ShardQueue, TenantQueue } from "./queue.ts";
export { FAILPOINTS } from "./types.ts";
export type {
  Failpoint,
  JobJournalOptions,
  JobJournalStats,
  Jobtype,
  JournalLog,
  ReadLines,
  Synced,
  Written,
} from "./types.ts";
