/** What becomes of one old job. Pure. */
import {
  type BatchId,
  bucketOf,
  clampPriority,
  formatTimestamp,
  isLive,
  isOthersUuid,
  type JobId,
  type JobState,
  type JobUuid,
  newFleetJob,
  parseBatchId,
  parseJobUuid,
  paths,
  predecessor,
  records,
} from "@sluice/queue-core";
import type { OldJob, OldNode } from "./old-tree.ts";
import { type FileToBring, findPayload, type OldFiles } from "./payload.ts";
import {
  goesOnAt,
  jobType,
  type JsonObject,
  jsonData,
  lastSuccessOf,
  objectOf,
  readOldState,
  submissionMode,
  textOf,
} from "./words.ts";

export interface PlannedJob {
  readonly kind: "bring";
  readonly id: JobId;
  readonly batch: BatchId;
  readonly from: JobState;
  readonly to: JobState;
  readonly notes: readonly string[];
  /** Every node below the job as it shall be. */
  readonly nodes: ReadonlyMap<string, Buffer>;
  readonly entry: string;
  readonly bucketEntry: string;
  readonly fleetJob: Buffer;
  readonly file: FileToBring | null;
  /** Its name outside, if that does not say where it is. */
  readonly uuid: JobUuid | null;
}

/** `path` is what stands in the way, `why` for people. */
export interface Cannot {
  readonly kind: "cannot";
  readonly path: string;
  readonly why: string;
}

export interface JobRules {
  readonly knowsStoring: boolean;
  readonly files: OldFiles | null;
  readonly nowMs: number;
  readonly batchUuidOf: (batch: BatchId) => string | undefined;
}

const PRIORITY_DEFAULT = 5;
/** The same in every run: how a second run knows a job that the first one brought. */
export const importOp = (czxid: bigint): string => `import-${czxid.toString(36)}`;

export function planJob(job: OldJob, rules: JobRules): PlannedJob | Cannot {
  const { id, nodes } = job;
  const cannot = (path: string, why: string): Cannot => ({ kind: "cannot", path, why });
  const batch = parseBatchId(textIn(nodes.get("bid")).trim());
  if (batch === null) return cannot(paths.jobBid(id), "is missing or names no batch: it was not made to its end");
  const status = objectOf(nodes.get("status"));
  if (status === null) return cannot(paths.jobStatus(id), "is missing or no JSON object: it was not made to its end");
  const from = readOldState(status["status"]);
  if (from === null) return cannot(paths.jobStatus(id), `no state of a job: ${JSON.stringify(status["status"])}`);
  const configuration = objectOf(nodes.get("configuration"));
  if (configuration === null) return cannot(paths.jobConfiguration(id), "is missing or no JSON object");
  if (textOf(configuration, "profile_name", "profile") === undefined) {
    return cannot(paths.jobConfiguration(id), "names no profile");
  }
  const facts = { knowsStoring: rules.knowsStoring, stored: isStored(nodes) };
  const type = jobType(textOf(configuration, "payload_type", "type"));
  const to = withManifest(withSize(goesOnAt(from, facts), nodes.get("space_needed")), type);
  const uuid = textOf(configuration, "jobID");
  const payload = findPayload(
    configuration,
    { batch, batchUuid: rules.batchUuidOf(batch) ?? textOf(configuration, "batchID"), job: { id, uuid } },
    rules.files,
  );
  if (payload.kind === "nowhere" && needsPayload(to)) return cannot(paths.jobConfiguration(id), payload.why);
  const notes = [
    ...(from === to
      ? []
      : [`${from} becomes ${to}: ${from === "Provisioning" ? "its size is asked for" : "its files are fetched"} anew`]),
    ...(payload.kind === "nowhere" && to === "Failed" ? [`cannot be resumed before Recording: ${payload.why}`] : []),
  ];
  const found = payload.kind === "nowhere" ? {} : { payload_url: payload.url, payload_name: payload.name };
  const added: JsonObject = {
    batch_id: batch,
    payload_type: type,
    submission_mode: submissionMode(configuration),
    ...found,
  };
  const priority = priorityIn(nodes.get("priority"));
  const lastSuccess = to === "Failed" ? lastSuccessOf(status["last_successful_status"], facts) : predecessorOf(to);
  const wanted = new Map([...nodes].map(([name, node]) => [name, node.data]));
  wanted.set("configuration", withAdded(nodes.get("configuration"), configuration, added));
  wanted.set("status", statusFor(nodes.get("status"), status, { from, to, lastSuccess }, rules.nowMs));
  wanted.set("priority", wanted.get("priority") ?? records.priority.encode(priority));
  wanted.set("space_needed", wanted.get("space_needed") ?? records.spaceNeeded.encode(0));
  addFromConfiguration(wanted, configuration);
  return {
    kind: "bring",
    id,
    batch,
    from,
    to,
    notes,
    nodes: wanted,
    entry: paths.queueEntry(to, priority, id),
    bucketEntry: paths.bucketEntry(batch, bucketOf(to), id),
    fleetJob: records.fleetJob.encode(
      newFleetJob({
        op: importOp(job.czxid),
        atMs: rules.nowMs,
        kind: "create",
        state: to,
        by: "import",
        detail: from === to ? "" : `was ${from}`,
      }),
    ),
    file: payload.kind === "file" && needsPayload(to) ? payload.file : null,
    uuid: othersUuid(uuid),
  };
}

function othersUuid(raw: string | undefined): JobUuid | null {
  const uuid = parseJobUuid(raw ?? "");
  return uuid !== null && isOthersUuid(uuid) ? uuid : null;
}

const textIn = (node: OldNode | undefined): string => node?.data.toString("utf8") ?? "";

function priorityIn(node: OldNode | undefined): number {
  const parsed = node === undefined ? null : records.priority.decode(node.data);
  return parsed?.ok === true ? clampPriority(parsed.value) : PRIORITY_DEFAULT;
}

function isStored(nodes: OldJob["nodes"]): boolean {
  const ark = textOf(objectOf(nodes.get("identifiers")) ?? {}, "primary_id", "primary");
  const manifest = textOf(objectOf(nodes.get("inventory")) ?? {}, "manifest_url");
  return ark !== undefined && manifest !== undefined;
}

const needsPayload = (state: JobState): boolean =>
  state === "Held" || ["Pending", "Estimating", "Provisioning", "Downloading"].includes(state);

/** Where nobody knows its size it would wait for a volume that is nearly empty: ours asks better than the old estimator. */
function withSize(state: JobState, node: OldNode | undefined): JobState {
  const size = node === undefined ? null : records.spaceNeeded.decode(node.data);
  return state === "Provisioning" && !(size?.ok === true && size.value > 0) ? "Estimating" : state;
}

/** An object manifest is kept by the stage that takes Pending: whoever needs one begins there. */
const withManifest = (state: JobState, type: string): JobState =>
  type === "manifest" && state !== "Held" && needsPayload(state) ? "Pending" : state;

const predecessorOf = (state: JobState): JobState | null => (isLive(state) ? predecessor(state) : null);

/** Bytes that say the right thing already stay as they are; keys that nobody here knows stay in any case. */
function withAdded(node: OldNode | undefined, raw: JsonObject, added: JsonObject): Buffer {
  const missing = Object.entries(added).filter(([key, value]) => value !== undefined && textOf(raw, key) === undefined);
  if (missing.length === 0 && node !== undefined) return node.data;
  return jsonData({ ...raw, ...Object.fromEntries(missing) });
}

interface Move {
  readonly from: JobState;
  readonly to: JobState;
  readonly lastSuccess: JobState | null;
}

function statusFor(node: OldNode | undefined, raw: JsonObject, { from, to, lastSuccess }: Move, nowMs: number): Buffer {
  const ended = to === "Completed" || to === "Deleted" || to === "Held";
  const same = from === to && (ended || raw["last_successful_status"] === lastSuccess);
  if (same && node !== undefined) return node.data;
  const last_modified =
    from === to ? (textOf(raw, "last_modified", "last_modification_date") ?? "") : formatTimestamp(nowMs);
  return jsonData({
    ...raw,
    status: to,
    last_modified,
    last_successful_status: lastSuccess,
    retry_count: raw["retry_count"] ?? 0,
    message: from === to ? (raw["message"] ?? "") : "",
  });
}

/** The old ingest service keeps identifiers and metadata in the configuration until it has processed the job. */
function addFromConfiguration(wanted: Map<string, Buffer>, configuration: JsonObject): void {
  const [ark, local] = [textOf(configuration, "objectID"), textOf(configuration, "localID")];
  if (!wanted.has("identifiers") && (ark ?? local) !== undefined) {
    const local_id = [...new Set((local ?? "").split(";").map((one) => one.trim()))].filter((one) => one !== "");
    wanted.set("identifiers", jsonData({ primary_id: ark ?? "", local_id }));
  }
  const erc = {
    erc_who: textOf(configuration, "creator"),
    erc_what: textOf(configuration, "title"),
    erc_when: textOf(configuration, "date"),
  };
  if (!wanted.has("metadata") && Object.values(erc).some((value) => value !== undefined)) {
    wanted.set("metadata", jsonData(erc));
  }
}
