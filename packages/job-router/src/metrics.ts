/** What a router tells of itself. The catalogue is data: who has a registry makes instruments of it. */
import type { Notice } from "@sluice/job-queue";

export interface RouterHooks {
  /** A request, by where its owner is, and how it ended. */
  readonly onRequest?: (where: "here" | "peer", outcome: "reply" | "unknown" | "unavailable", seconds: number) => void;
  /** A shard is ours: it had no owner, it was left to us, or we deposed its owner. */
  readonly onTakeover?: (from: "nobody" | "peer") => void;
  /** A term of ours is over. */
  readonly onTermEnd?: (why: TermEnd) => void;
  /** A shard that ended its terms too often rests. */
  readonly onPause?: () => void;
  /** Runs that ended have left the tree for the archive. */
  readonly onArchived?: (runs: number) => void;
  /** They could not. */
  readonly onArchiveFailure?: () => void;
  /** A command was refused because the archive is behind. */
  readonly onHeldBack?: (what: "creates" | "takes") => void;
  /** Something was done to a job that nobody asked for. */
  readonly onNotice?: (what: Notice["what"]) => void;
}

/**
 * left: handed over or stopped; deposed: another process has it; session: ours was lost; refused: a write of ours was;
 * unloadable: the shard was ours and could not be loaded.
 */
export type TermEnd = "left" | "deposed" | "session" | "refused" | "unloadable";

const each = "each job-api";

export const ROUTER_METRICS = {
  shardsOwned: {
    type: "gauge",
    name: "sluice_jobs_shards_owned",
    help: "Shards of the job queue that this process owns",
    labels: [],
    exportedBy: each,
  },
  quarantined: {
    type: "gauge",
    name: "sluice_jobs_quarantined",
    help: "Records of the shards that this process owns which cannot be read: set aside, with their bytes, until somebody requeues or deletes the job",
    labels: [],
    exportedBy: each,
  },
  endedInTree: {
    type: "gauge",
    name: "sluice_jobs_ended_in_tree",
    help: "Ended runs of this process's shards that have not left ZooKeeper for the archive yet; some thousand per busy shard are usual",
    labels: [],
    exportedBy: each,
  },
  archived: {
    type: "counter",
    name: "sluice_jobs_archived_total",
    help: "Ended runs that left ZooKeeper for the archive",
    labels: [],
    exportedBy: each,
  },
  archiveFailures: {
    type: "counter",
    name: "sluice_jobs_archive_failures_total",
    help: "Times that the archive could not be written; the runs stay in ZooKeeper, and it is tried again",
    labels: [],
    exportedBy: each,
  },
  heldBack: {
    type: "counter",
    name: "sluice_jobs_held_back_total",
    help: "Commands refused with 503 because ended runs do not leave ZooKeeper fast enough: creates first, takes when it gets worse",
    labels: ["what"],
    exportedBy: each,
  },
  waiters: {
    type: "gauge",
    name: "sluice_jobs_waiters",
    help: "Callers that wait for a job at this process",
    labels: [],
    exportedBy: each,
  },
  requestSeconds: {
    type: "histogram",
    name: "sluice_jobs_request_seconds",
    help: "Commands until they were answered, by where the shard's owner was (here, peer)",
    labels: ["where"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    exportedBy: each,
  },
  requests: {
    type: "counter",
    name: "sluice_jobs_requests_total",
    help: "Commands by where the shard's owner was and how they ended (reply, unknown, unavailable)",
    labels: ["where", "outcome"],
    exportedBy: each,
  },
  takeovers: {
    type: "counter",
    name: "sluice_jobs_takeovers_total",
    help: "Shards taken, from nobody or from a peer that was deposed",
    labels: ["from"],
    exportedBy: each,
  },
  termEnds: {
    type: "counter",
    name: "sluice_jobs_term_ends_total",
    help: "Terms of this process that ended: left, deposed, session, refused, unloadable",
    labels: ["why"],
    exportedBy: each,
  },
  pauses: {
    type: "counter",
    name: "sluice_jobs_shard_pauses_total",
    help: "Times a shard rested for a minute because its terms kept ending",
    labels: [],
    exportedBy: each,
  },
  notices: {
    type: "counter",
    name: "sluice_jobs_moved_alone_total",
    help: "Jobs that the queue moved by itself: lapse (lost by their worker, offered again), poison (FAILED instead of given), chain (made by another one's end); each has a log line",
    labels: ["what"],
    exportedBy: each,
  },
} as const;
