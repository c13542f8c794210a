/** The etcd document's job, as it is submitted. Every field that it asks for is missed by name. */
import { z } from "zod";

const patterns = z.array(z.string().min(1).max(512)).max(100).optional();
const files = z.strictObject({ Name: z.string().min(1).max(255), Patterns: patterns });

export const SubmittedJob = z.strictObject({
  Container: z.strictObject(
    {
      Config: z.union([z.record(z.string(), z.unknown()), z.string()], "Container.Config is required"),
    },
    { error: (issue) => (issue.input === undefined ? "Container is required" : undefined) },
  ),
  Fileset: z.strictObject(
    { Input: files.optional(), Output: files.optional() },
    { error: (issue) => (issue.input === undefined ? "Fileset is required" : undefined) },
  ),
  States: z.tuple(
    [
      z.strictObject({
        State: z.literal("QUEUED", "a new job is QUEUED"),
        Step: z.literal("", "a new job has no step yet"),
        Date: z.string().refine((text) => !Number.isNaN(Date.parse(text)), "a timestamp"),
      }),
    ],
    {
      error: (issue) =>
        issue.input === undefined ? "States is required" : 'States is [{"State":"QUEUED","Step":"","Date":timestamp}]',
    },
  ),
  Owner: z.literal("", "a new job has no owner").nullish(),
});
export type SubmittedJob = z.infer<typeof SubmittedJob>;

export const EtcdState = z.object({
  State: z.enum(["QUEUED", "STARTED", "FINISHED"]),
  Step: z.string(),
  Date: z.string(),
});
export type EtcdState = z.infer<typeof EtcdState>;

/** As it is shown. */
export const EtcdJob = z
  .object({
    Container: z.record(z.string(), z.unknown()),
    Fileset: z.record(z.string(), z.unknown()),
    Owner: z.string(),
    States: z.array(EtcdState),
    Result: z.object({ Status: z.enum(["SUCCESS", "FAILURE"]), Info: z.string() }).optional(),
  })
  .meta({ id: "EtcdJob" });
export type EtcdJob = z.infer<typeof EtcdJob>;

export interface EtcdNode {
  readonly key: string;
  /** The job, or worker, as JSON text. */
  readonly value: string;
  readonly createdIndex: number;
  readonly modifiedIndex: number;
}

/** What a job becomes: the document's schema, as a worker changed it. The last of its States counts. */
export const SwappedJob = z.looseObject({
  Container: z.record(z.string(), z.unknown(), "Container is required"),
  Fileset: z.record(z.string(), z.unknown()).optional(),
  Owner: z.string().max(128).nullish(),
  States: z.array(z.looseObject({ State: EtcdState.shape.State, Step: z.string().max(120).default("") })).min(1),
  Result: z.looseObject({ Status: z.enum(["SUCCESS", "FAILURE"]), Info: z.string().default("") }).nullish(),
});
export type SwappedJob = z.infer<typeof SwappedJob>;

const NodeSchema = z.object({
  key: z.string(),
  value: z.string(),
  createdIndex: z.int(),
  modifiedIndex: z.int(),
});
export const EtcdOne = z.object({ action: z.string(), node: NodeSchema }).meta({ id: "EtcdOne" });
export const EtcdSwapped = z
  .object({ action: z.literal("compareAndSwap"), node: NodeSchema, prevNode: NodeSchema })
  .meta({ id: "EtcdSwapped" });
/** What a list leaves out, and how to get it. */
export const EtcdRest = z.object({
  next: z.int().optional().meta({ description: "there are more: ask again with `after` of this number" }),
  leftOut: z.int().optional().meta({ description: "so many jobs that have ended are not shown: ask with `after=0`" }),
});
export const EtcdList = z
  .object({
    action: z.literal("get"),
    node: z.object({ key: z.string(), dir: z.literal(true), nodes: z.array(NodeSchema) }),
    ...EtcdRest.shape,
  })
  .meta({ id: "EtcdList" });
