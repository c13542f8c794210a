/** What fsck knows of a job or a batch: plain facts, read at one moment, for rules that are pure. */
import type {
  BatchId,
  BatchState,
  BatchStatus,
  Beside,
  Bucket,
  Expansion,
  FleetJob,
  JobId,
  JobState,
  JobStatus,
  StatusReport,
  Submission,
} from "@sluice/queue-core";
import type { Node, Op } from "@sluice/zookeeper";

/** A node that is there, with what it says; `value` null = it cannot be read. */
export interface Fact<T> {
  readonly value: T | null;
  readonly node: Node;
}

export interface Place {
  readonly state: JobState;
  readonly priority: number;
}

export interface JobFacts {
  readonly id: JobId;
  readonly exists: boolean;
  readonly bid: Fact<BatchId> | null;
  readonly status: Fact<JobStatus> | null;
  readonly priority: Fact<number> | null;
  readonly configuration: Fact<unknown> | null;
  readonly space: Fact<number> | null;
  readonly history: Fact<FleetJob> | null;
  readonly lock: Node | null;
  readonly entries: readonly Place[];
  readonly buckets: readonly { readonly batch: BatchId; readonly bucket: Bucket }[];
  readonly batch: Fact<BatchStatus> | null;
  /** Of the batches that it names or that list it, those that this fleet has expanded or imported. */
  readonly taken: readonly BatchId[];
  /** Retries of which callbacks wait, with their nodes' versions. */
  readonly callbacks: readonly { readonly retry: number; readonly version: number }[];
}

export interface BatchFacts {
  readonly id: BatchId;
  readonly exists: boolean;
  readonly status: Fact<BatchStatus> | null;
  readonly submission: Fact<Submission> | null;
  readonly report: Fact<StatusReport> | null;
  readonly lock: Node | null;
  /** Names of the jobs in each bucket; null = there is no such directory. */
  readonly buckets: Readonly<Record<Bucket, readonly string[] | null>>;
  readonly hasStates: boolean;
  readonly entries: readonly { readonly state: BatchState; readonly version: number }[];
  readonly due: Node | null;
  readonly expansion: Fact<Expansion> | null;
  /** UUID nodes that were seen to name this batch, and the one that its submission names. */
  readonly uuids: readonly { readonly uuid: string; readonly names: BatchId | null; readonly version: number }[];
  readonly reportChunks: boolean;
}

/** Where to look again: enough to read the same thing afresh, also from a report that was kept. */
export type Subject =
  | {
      readonly kind: "job";
      readonly id: JobId;
      readonly entries: readonly Place[];
      readonly batches: readonly BatchId[];
      readonly callbacks: readonly number[];
    }
  | { readonly kind: "batch"; readonly id: BatchId; readonly uuids: readonly string[] }
  | { readonly kind: "tree" };

export interface Ages {
  readonly nowMs: number;
  /** A lock older than this, of a session that no worker is registered with, is suspicious. */
  readonly lockMs: number;
  /** What is younger is a warning, what is older a failure. */
  readonly failMs: number;
}

export interface RuleContext extends Ages {
  /** Sessions that have registered a worker. */
  readonly sessions: ReadonlySet<bigint>;
  /** Which stage a program with CDL's library has beside this fleet; null = none. */
  readonly beside: Beside | null;
}

/** What a rule says. `ops` mend it, guarded by the versions that were read; without them a human must. */
export interface Suspicion {
  readonly rule: RuleName;
  readonly path: string;
  readonly what: string;
  /** When what is wrong was last written, in ms of the server's clock; null = at once a failure. */
  readonly sinceMs: number | null;
  /** So young it is only a warning; absent: as young as the others. */
  readonly warnForMs?: number;
  readonly mend: { readonly says: string; readonly ops: readonly Op[] } | { readonly human: string };
}

/** Every rule, and what it demands. */
export const RULES = {
  "I-01": "a job that is not over has exactly one entry in the queues",
  "I-02": "that entry stands in the directory of its status",
  "I-03": "that entry begins with its priority",
  "I-04": "a job is in exactly one bucket of its batch",
  "I-05": "that bucket is the one of its status",
  "I-06": "a job's batch is there, and no other batch lists the job",
  "I-07": "every entry names a job that is there and can be read",
  "I-08": "a job has all its nodes",
  "I-09": "a batch has submission and status; UUIDs and batches name each other",
  "I-10": "a batch has as many jobs as its expansion says",
  "I-12": "the report of a completed batch lists its jobs",
  "I-13": "a completed batch has no failed job",
  "I-21": "nothing that rests is locked",
  "I-22": "locks are ephemeral, and those of unregistered sessions are young",
  "I-36": "the jobs that hold space need no more than there is",
  "I-37": "the audit's chain is whole",
  "I-38": "nodes have at most 64 KB, queues fewer than 50,000 entries",
  "I-39": "no URL carries a user name or password",
  IMPORT: "every batch and job was made here, or imported",
  INDEX: "/fleet/batches lists each batch under its status, and no other",
  ORPHAN: "nothing under /fleet outlives its job or batch",
  STATES: "a batch has its four buckets",
  UNFENCED: "no program has written a job that it had lost",
  ACL: "in a tree of an identity no node is open to everyone",
  FOLDER: "a folder of the working volume belongs to a batch that is there",
  NAMES: "the tree holds only what we know",
} as const;
export type RuleName = keyof typeof RULES;
