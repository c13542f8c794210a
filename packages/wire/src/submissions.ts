/** What depositors send, and what they are told about it before it stands in the queue. */
import { BATCH_STATES } from "@sluice/queue-core";
import { z } from "zod";
import { Batch } from "./deposits.ts";

const text = z.string();

const localIds = z
  .union([text, z.array(text).max(100)])
  .optional()
  .describe("one or several; in one text separated by ;");

/** Of one request; more belong into a manifest. */
export const OBJECTS_MAX = 50_000;

/** Of one request: each becomes a manifest of its own in the batch's folder. */
export const OBJECTS_OF_FILES_MAX = 1_000;

const FILE_FIELDS = {
  name: text.optional().describe("its file name; from the URL if absent"),
  digest_type: text.optional(),
  digest_value: text.optional(),
  size: z.number().int().min(0).optional().describe("in bytes"),
};
const url = text.describe("where it can be fetched: http or https, without user name");

/** One file of an object that has several. */
export const SubmittedFile = z.strictObject({ url, ...FILE_FIELDS, mime_type: text.optional() });
export type SubmittedFile = z.infer<typeof SubmittedFile>;

/** One object of a batch that is given in the request itself. */
export const SubmittedObject = z.strictObject({
  url: url.optional(),
  files: z
    .array(SubmittedFile)
    .min(1)
    .max(OBJECTS_MAX)
    .optional()
    .describe(`the object's files, instead of url; at most ${OBJECTS_OF_FILES_MAX} objects of a request`),
  ...FILE_FIELDS,
  local_id: localIds,
  primary_id: text.optional().describe("an ARK"),
  title: text.optional(),
  creator: text.optional(),
  date: text.optional(),
});
export type SubmittedObject = z.infer<typeof SubmittedObject>;

/** Fields that a form has too. */
export const SUBMISSION_FIELDS = {
  profile: text.describe("name of the collection's profile, ending with _content"),
  submission_mode: z.enum(["add", "update"]).optional().describe("add if absent"),
  payload_name: text.optional().describe("file name of the payload; from its URL or upload if absent"),
  type: text.optional().describe("type of the payload; found from its content if absent"),
  digest_type: text.optional(),
  digest_value: text.optional(),
  submitter: text.optional().describe("whoever submits, if absent"),
  title: text.optional(),
  creator: text.optional(),
  date: text.optional(),
  primary_id: text.optional().describe("an ARK"),
  notification: text.optional().describe("mail addresses, separated by commas"),
  notification_format: text.optional(),
  note: text.optional(),
  erc: text
    .optional()
    .describe("ERC in ANVL, several lines; fills what title, creator, date and the identifiers leave open"),
  resource_type: text.optional().describe("DataCite's resourceType"),
  retain_target_url: z.enum(["true", "false"]).optional().describe("true: where the ARK leads to stays as it is"),
};

/** A copy of the format's own list: what knows only the wire need not know formats. */
export const DUBLIN_CORE_FIELDS = [
  "contributor",
  "coverage",
  "creator",
  "date",
  "description",
  "format",
  "identifier",
  "language",
  "publisher",
  "relation",
  "rights",
  "source",
  "subject",
  "title",
  "type",
] as const;

const dublinCore = z
  .partialRecord(z.enum(DUBLIN_CORE_FIELDS), text)
  .optional()
  .describe("elements of Dublin Core, several values separated by ;");

/** What is not in it is refused: a misspelt field must not be dropped in silence. */
export const NewBatch = z
  .strictObject({
    ...SUBMISSION_FIELDS,
    payload_url: text.optional().describe("where the payload can be fetched; this or objects"),
    payload_size: z.number().int().min(0).optional().describe("size of the payload in bytes, if known"),
    local_id: localIds,
    dublin_core: dublinCore,
    objects: z
      .array(SubmittedObject)
      .min(1)
      .max(OBJECTS_MAX)
      .optional()
      .describe("the objects of a batch; type says what each is"),
    firstRun: text.optional().describe("not now but then: RFC 3339, or YYYY-MM-DD [HH:MM:SS] in UTC"),
    repeat: text.optional().describe("again and again, such as FINISHED, +1 DAY, START OF DAY, +4 HOURS"),
  })
  .meta({ id: "NewBatch" });
export type NewBatch = z.infer<typeof NewBatch>;

/** A deposit for later, as its maker sees it. */
export const ScheduledDeposit = z
  .object({
    id: z.int().describe("its job in the tenant `system` of the job queue"),
    state: z.string(),
    created: z.string(),
    next_run: z.string().nullable(),
    last_run: z.string().nullable(),
    repeat: z.string().describe("empty: it runs once"),
    profile: z.string(),
    submits: z.string().describe("the payload's URL without its query, or how many objects"),
    last_exit: z
      .int()
      .nullable()
      .describe("of the last run that ended: 200 submitted, 4xx refused, others: tried again"),
    last_result: z.string().nullable().describe("what the last run that ended submitted, or why it did not"),
    ends: z.string().nullable().describe("why it will not run again; null: nothing has ended or cancelled it"),
  })
  .meta({ id: "ScheduledDeposit" });
export type ScheduledDeposit = z.infer<typeof ScheduledDeposit>;

export const ScheduledDepositDetail = ScheduledDeposit.extend({
  runs: z.int().describe("that have submitted"),
  batch: z
    .record(z.string(), z.unknown())
    .describe("what is submitted; queries of URLs and mail addresses are left out"),
  last_runs: z.array(z.object({ ended: z.string(), exit: z.int().nullable(), result: z.string().nullable() })),
}).meta({ id: "ScheduledDepositDetail" });
export type ScheduledDepositDetail = z.infer<typeof ScheduledDepositDetail>;

export const CancelledDeposit = z
  .object({
    ended: z.boolean().describe("false: it runs just now, and ends with this run"),
    message: z.string(),
  })
  .meta({ id: "CancelledDeposit" });
export type CancelledDeposit = z.infer<typeof CancelledDeposit>;

export const Accepted = z
  .object({
    id: z.string().describe("`bid-` and a UUID; of a schedule, `job-` and its number"),
    bid: z.string().nullable().describe("`bid` and ten digits; null: it waits for the queue, and has no number yet"),
    url: z.string().describe("where to look at it"),
    job: z.int().optional().describe("of a schedule: its job in the tenant `system` of the job queue"),
  })
  .meta({ id: "Accepted" });
export type Accepted = z.infer<typeof Accepted>;

/** Of a submission that the intake keeps, and that is not in the queue: it waits for it, or can never come to it. */
export const KEPT_STATES = ["Accepted", "Refused"] as const;

/** A batch as its depositor sees it, also before it stands in the queue. */
export const SubmittedBatch = Batch.extend({
  bid: z.string().nullable().describe("`bid` and ten digits; null while it is not in the queue"),
  status: z
    .enum([...BATCH_STATES, ...KEPT_STATES])
    .describe("`Accepted`: it is kept and waits for the queue. `Refused`: it can never come to it, `message` says why"),
}).meta({ id: "SubmittedBatch" });
export type SubmittedBatch = z.infer<typeof SubmittedBatch>;

export const BatchRefusal = z
  .object({ id: z.string(), why: z.string(), refused_at: z.string() })
  .meta({ id: "BatchRefusal" });
export type BatchRefusal = z.infer<typeof BatchRefusal>;
export const BatchRefusals = z.object({ refusals: z.array(BatchRefusal) });
