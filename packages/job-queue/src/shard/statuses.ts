/** Every answer that a command can have, in the words of the document. */
import { DATA_DEPTH } from "../limits.ts";

export interface Status {
  readonly code: number;
  readonly text: string;
  /** Worth asking again after so long. */
  readonly retryAfterMs?: number;
}

const status = (code: number, text: string): Status => ({ code, text });

export const STATUS = {
  ok: status(200, "OK"),
  willNotRepeat: status(202, "It runs just now and will not repeat"),
  invalidJson: status(401, "Invalid JSON"),
  missing: (name: string) => status(402, `Missing ${name}`),
  malformed: (name: string) => status(402, `Malformed ${name}`),
  controlCharacters: (name: string) => status(402, `Malformed ${name}: control characters are not allowed`),
  badPriority: status(402, "Invalid priority value"),
  badData: status(402, "Data is not a valid JSON Object"),
  tooDeep: status(402, `Data is nested more than ${DATA_DEPTH} levels deep`),
  retryAfterAndRepeat: status(402, "retryAfter cannot be combined with repeat"),
  retryAfterAndUnique: status(402, "retryAfter cannot be combined with unique"),
  numResultsWithGetJob: status(402, "Cannot use numResults with GetJob; try GetJobs"),
  negativeDelay: status(402, "Must specify a non-negative delay when retrying"),
  noJobFound: status(404, "No job found"),
  noSuchJob: status(404, "No job with this jobID"),
  noSuchParent: status(404, "parentJobID does not exist"),
  otherParent: status(404, "Trying to create a child that already exists, but it is tied to a different parent"),
  cancelWithChildren: status(404, "Invalid jobID - Cannot cancel a job with children"),
  parentNotRunning: status(405, "Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED"),
  grandchild: status(405, "Cannot create grandchildren"),
  mockOfParent: status(405, "Parent and child jobs must have matching mockRequest setting"),
  notRunning: status(405, "Can only retry/finish RUNNING and RUNQUEUED jobs"),
  parentNotPaused: status(405, "Can only retry/finish child job when parent is PAUSED"),
  notRunningToFail: status(405, "Can only fail RUNNING or RUNQUEUED jobs"),
  leaseLost: status(405, "This job was given to another worker"),
  cancelAfterStart: status(405, "Can only cancel jobs that have not yet changed to RUNNING"),
  notDue: status(405, "This job cannot be claimed now: it is not QUEUED, or its time has not come"),
  otherOwner: status(405, "Owner changes only when a job is claimed or given back"),
  noSuchMove: status(405, "A job is claimed before it is FINISHED, and goes from FINISHED to QUEUED alone"),
  changedMeanwhile: status(412, "Compare failed"),
  deleteRunning: status(405, "Can't delete a RUNNING job"),
  deletePaused: status(405, "Can't delete a parent jobs with children running"),
  sealed: status(405, "What is sealed in the data of a job cannot be changed: delete the job and make another"),
  notToSeal: status(
    405,
    "Only who may schedule deposits makes jobs of the fleet with something sealed, or with large data",
  ),
  unknownVerb: status(430, "Unrecognized command"),
  mockMismatch: status(500, "Mock Mismatch"),
  broken: status(500, "Internal error"),
  full: status(503, "Too many jobs"),
  archiveLags: {
    ...status(503, "Runs end faster than they are archived, or the archive cannot be written: come again"),
    retryAfterMs: 2_000,
  } as Status,
  tenantFull: (tenant: string, most: number): Status => ({
    ...status(429, `Too many jobs of tenant ${tenant}: ${most} is the limit`),
    retryAfterMs: 60_000,
  }),
  /** Its lines wait where they are: they were accepted, and only a person knows which tree they belong to. */
  unknownGuest: status(503, "These ids were reserved in another tree than this one"),
  brokenGuest: status(503, "What the tree knows of this journal cannot be read"),
  journalGap: status(503, "Jobs before these have not been taken in"),
} as const;
