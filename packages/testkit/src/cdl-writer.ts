/**
 * Writes a queue as CDL's libraries do: their paths and bytes, one call after the other, no transaction, versions of no
 * importance, numbers by the parent's cversion. For trees that our importer and our readers must understand.
 */
import { EMPTY } from "@sluice/queue-core";
import { openRawSession, type RawSession } from "./raw-session.ts";

export interface CdlBatch {
  readonly submission: Readonly<Record<string, unknown>>;
  readonly status: string;
  /** The pending one has no `states` yet. */
  readonly states?: boolean;
}

export interface CdlJob {
  readonly batch: string;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly lastSuccessful?: string | null;
  readonly message?: string;
  readonly priority?: number;
  readonly space?: number;
  /** More nodes: `identifiers`, `inventory`, `store`, … */
  readonly nodes?: Readonly<Record<string, unknown>>;
}

export interface CdlWriter {
  readonly session: RawSession;
  createBatch(batch: CdlBatch): Promise<string>;
  createJob(job: CdlJob): Promise<string>;
  /** One node, its parents too. */
  put(path: string, data?: string, ephemeral?: true): Promise<void>;
  overwrite(path: string, data: string): Promise<void>;
  remove(path: string): Promise<void>;
  close(): Promise<void>;
}

const JOB_STATES =
  "Pending Held Estimating Provisioning Downloading Processing Storing Recording Notify Completed Failed Deleted";
const LOCKS = ["queue", "storage", "inventory", "collections", "localid"];
const BUCKETS: Readonly<Record<string, string>> = {
  Failed: "batch-failed",
  Completed: "batch-completed",
  Deleted: "batch-deleted",
};
const MODIFIED = "2026-07-28 09:15:00 +0000";

/** Java's initNodes. `storing: false` is a library from before that state. */
export async function cdlWriter(connect: string, options: { readonly storing?: boolean } = {}): Promise<CdlWriter> {
  const session = await openRawSession(connect);
  const put = async (path: string, data = "", ephemeral?: true): Promise<void> => {
    const parent = path.slice(0, path.lastIndexOf("/"));
    if (parent !== "" && !(await session.get(parent)).ok) await put(parent);
    const bytes = data === "" ? EMPTY : Buffer.from(data);
    const made = await session.multi([{ op: "create", path, data: bytes, ...(ephemeral ? { ephemeral } : {}) }]);
    if (!made.ok && made.code !== "NODE_EXISTS") throw new Error(`${path}: ${made.code}`);
  };
  const sequential = async (parent: string, prefix: string): Promise<string> => {
    const there = await session.get(parent);
    if (!there.ok) throw new Error(`${parent}: ${there.code}`);
    const id = `${prefix}${String(there.value.stat.cversion).padStart(10, "0")}`;
    await put(`${parent}/${id}`);
    return id;
  };
  for (const state of JOB_STATES.split(" ")) {
    if (state !== "Storing" || options.storing !== false) await put(`/jobs/states/${state.toLowerCase()}`);
  }
  for (const lock of LOCKS) await put(`/locks/${lock}`);
  for (const directory of ["/batches", "/batch-uuids"]) await put(directory);

  return {
    session,
    put,
    async createBatch({ submission, status, states = status !== "Pending" }) {
      const id = await sequential("/batches", "bid");
      const uuid = submission["batchID"];
      if (typeof uuid === "string") await put(`/batch-uuids/${uuid}`, id);
      await put(`/batches/${id}/submission`, JSON.stringify(submission));
      await put(`/batches/${id}/status`, JSON.stringify({ status, last_modified: MODIFIED, message: "" }));
      if (states) await put(`/batches/${id}/states`);
      return id;
    },
    async createJob({
      batch,
      configuration,
      status,
      lastSuccessful = null,
      message = "",
      priority = 5,
      space = 0,
      nodes = {},
    }) {
      const id = await sequential("/jobs", "jid");
      await put(`/jobs/${id}/bid`, batch);
      await put(`/jobs/${id}/priority`, String(priority));
      await put(`/jobs/${id}/space_needed`, String(space));
      await put(`/jobs/${id}/configuration`, JSON.stringify(configuration));
      for (const [name, data] of Object.entries(nodes)) await put(`/jobs/${id}/${name}`, JSON.stringify(data));
      const record = {
        status,
        last_modified: MODIFIED,
        last_successful_status: lastSuccessful,
        retry_count: 0,
        message,
      };
      await put(`/jobs/${id}/status`, JSON.stringify(record));
      await put(`/jobs/states/${status.toLowerCase()}/${String(priority).padStart(2, "0")}-${id}`);
      await put(`/batches/${batch}/states/${BUCKETS[status] ?? "batch-processing"}/${id}`);
      return id;
    },
    async overwrite(path, data) {
      const set = await session.multi([{ op: "set", path, data: Buffer.from(data), version: ANY }]);
      if (!set.ok) throw new Error(`${path}: ${set.code}`);
    },
    async remove(path) {
      const gone = await session.multi([{ op: "delete", path, version: ANY }]);
      if (!gone.ok) throw new Error(`${path}: ${gone.code}`);
    },
    close: () => session.close(),
  };
}

/** As their libraries delete. */
const ANY = -1;
