/** The data of every node of the general queue: schema, reader and printer in one place. */
import { z } from "zod";
import { usualJob } from "./job-check.ts";
import { EVENTS_KEPT, LEASE_KINDS, NAME_BYTES } from "./limits.ts";
import { MOVES, STATES } from "./states.ts";
import { isTenant } from "./tenants.ts";

const whole = z.number().int().min(0);
/** Ms since 1970. SQLite's calendar goes back to the year -4713. */
const moment = z.number().int();
const bytesAtMost = (bytes: number): z.ZodString => z.string().refine((text) => Buffer.byteLength(text) <= bytes);

const LeaseSchema = z.strictObject({
  /** TERM.n: it never appears twice in a shard. Whoever ends the job shows it. */
  token: z.string().regex(/^\d+\.\d+$/),
  /** Who has it, for people and for renewals in bulk; "" for a caller that gave no name. */
  worker: z.string(),
  kind: z.enum(LEASE_KINDS),
  ttl: z.number().int().min(1),
});
export type Lease = z.infer<typeof LeaseSchema>;

/** [when, what, by whom?] */
const EventSchema = z.tuple([moment, z.enum([...MOVES, "create"])]).rest(z.string());
export type JobEvent = z.infer<typeof EventSchema>;

/** What stands in the store of blobs. */
const BlobSchema = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: whole,
  as: z.literal("payload").optional(),
});

export const JobSchema = z.strictObject({
  v: z.literal(1),
  name: bytesAtMost(NAME_BYTES).min(1),
  tenant: z.string().refine(isTenant),
  state: z.enum(STATES),
  priority: z.number().int().min(0).max(1000),
  nextRun: moment,
  lastRun: moment.optional(),
  created: moment,
  /** As its creator wrote it. */
  repeat: z.string().optional(),
  /** It was created only because no other job had its name. */
  unique: z.literal(true).optional(),
  retryAfter: z.string().optional(),
  /** How often it was taken without an end, of a job with retryAfter. Shown inside `data`. */
  retryAfterCount: whole.optional(),
  /** How often its lease lapsed in this run. */
  reoffers: whole.optional(),
  parent: z.number().int().min(1).optional(),
  /** A PAUSED child counts as QUEUED when its parent's phase has come this far. */
  gate: z.number().int().min(1).optional(),
  /** How often this parent has paused for its children. */
  phase: whole.optional(),
  /** How often this parent's ended children were cleared away. */
  cleared: whole.optional(),
  /** Of an ended child: its parent's `cleared` then. Below the parent's present one, it is gone. */
  endedIn: whole.optional(),
  /** It has ended; what is left of it waits for the sweep. */
  leaving: z.literal(true).optional(),
  /** It counts only when this mark stands. */
  grp: z.string().optional(),
  /** Shown inside `data`. */
  mock: z.literal(true).optional(),
  lease: LeaseSchema.optional(),
  maxRunTime: z.number().int().min(1).optional(),
  step: z.string().optional(),
  /** JSON text, byte for byte as it came. */
  data: z.string().optional(),
  /** The data stands in the node `d` below the record instead. */
  dataNode: z.literal(true).optional(),
  /** The data stands in the store of blobs instead. */
  dataRef: BlobSchema.optional(),
  /** The type of the job that is made of this one's result. */
  onFinish: z.string().optional(),
  ev: z.array(EventSchema).max(EVENTS_KEPT),
});
/** As it stands in the node. */
export type StoredJob = z.infer<typeof JobSchema>;
/** As the shard's owner has it: whole. */
export type Job = Omit<StoredJob, "dataNode" | "data"> & { readonly data: string };

export const IdsSchema = z.strictObject({
  /** The next block of ids. */
  next: whole,
  /** The last term. */
  term: whole,
});
export type Ids = z.infer<typeof IdsSchema>;

export const LayoutSchema = z.strictObject({
  shards: z.number().int(),
  block: z.number().int(),
  /** Tenants that were given a shard by hand. */
  tenants: z.record(z.string(), whole),
  /** Shards that stand in another ensemble than the first, with its name. The same in every ensemble. */
  ensembles: z.record(z.string(), z.string()).optional(),
});
export type Layout = z.infer<typeof LayoutSchema>;

/** How a run ended, in its holder's words. */
const OUTCOMES = ["finished", "failed", "retried"] as const;
export type RunOutcome = (typeof OUTCOMES)[number];

export const DoneSchema = z.strictObject({
  name: z.string(),
  tenant: z.string(),
  worker: z.string().optional(),
  /** Finished unless said. */
  outcome: z.enum(OUTCOMES).optional(),
  exit: z.number().int().optional(),
  /** JSON text or plain text, as it came; a large one stands in the node `r` below. */
  result: z.string().optional(),
  resultRef: BlobSchema.optional(),
  created: moment,
  started: moment.optional(),
  ended: moment,
  /** What else is to be known of a job whose record goes, or may go; large data stands in the node `d` below. */
  job: JobSchema.pick({
    priority: true,
    repeat: true,
    retryAfter: true,
    parent: true,
    mock: true,
    maxRunTime: true,
    step: true,
    data: true,
    dataRef: true,
    onFinish: true,
    ev: true,
  }).optional(),
});
export type Done = z.infer<typeof DoneSchema>;

/** How far the journal of a process that accepts jobs by itself has been taken in. */
export const GuestSchema = z.strictObject({
  file: z.string(),
  offset: whole,
  /** The last of its ids that was taken in; all below it that were used are too. */
  last: whole,
  /** The blocks of ids that are its own, and not used up. */
  blocks: z.array(whole),
});
export type Guest = z.infer<typeof GuestSchema>;

/** Of a shard that was made from a snapshot. Fields of later versions are passed over. */
export const RestoredSchema = z.object({
  /** Of the fleet, since the restore. */
  epoch: whole,
  /** Where the snapshot ended: what came behind it is what the redo log had of it. */
  from: z.object({ epoch: whole, zxid: z.string().regex(/^[0-9a-f]{1,16}$/) }),
  /** Blocks below this one were given before the restore, and nobody is given them again. */
  floor: whole,
});
export type Restored = z.infer<typeof RestoredSchema>;

/** Patterns of names that are not handed out, by tenant. */
export const CrashedSchema = z.record(z.string(), z.array(z.string()));
export type Crashed = z.infer<typeof CrashedSchema>;

/** A reader's answer: a broken node is a fact about the tree, not an exception. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

interface RecordType<T> {
  readonly decode: (data: Buffer) => Parsed<T>;
  readonly encode: (value: T) => Buffer;
}

/** `usual`: a quicker way to the same answer for most values; null for the others. */
function jsonRecord<T>(name: string, schema: z.ZodType<T>, usual?: (raw: unknown) => T | null): RecordType<T> {
  return {
    decode(data) {
      const raw = parseJson(data.toString("utf8"));
      const quick = usual?.(raw) ?? null;
      if (quick !== null) return { ok: true, value: quick };
      const parsed = schema.safeParse(raw);
      if (parsed.success) return { ok: true, value: parsed.data };
      const first = parsed.error.issues[0];
      return { ok: false, problem: `${name}.${first?.path.join(".") ?? ""}: ${first?.message ?? "invalid"}` };
    },
    encode: (value) => Buffer.from(JSON.stringify(value)),
  };
}

/** undefined, which is no JSON, for what is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export const records = {
  job: jsonRecord<StoredJob>("job", JobSchema, usualJob),
  ids: jsonRecord("ids", IdsSchema),
  layout: jsonRecord("layout", LayoutSchema),
  done: jsonRecord("done", DoneSchema),
  guest: jsonRecord("guest", GuestSchema),
  crashed: jsonRecord("crashed", CrashedSchema),
  restored: jsonRecord("restored", RestoredSchema),
} as const;
