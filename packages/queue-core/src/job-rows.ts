/**
 * Which row of its batch a job is. A job that is made again after a disaster gets the name that it had: all effects outside
 * (ARK, stored version, inventory, callback) know it by that name, and find what was done before.
 */
import type { Session } from "@sluice/zookeeper";
import type { Batch, JobSpec } from "./batch.ts";
import {
  type BatchId,
  isOthersUuid,
  type JobId,
  jobId,
  jobNumber,
  type JobUuid,
  jobUuidOfRow,
  whereIsJob,
} from "./ids.ts";
import { paths } from "./paths.ts";
import { type Expansion, records } from "./records.ts";

/**
 * Only what the depositor said of this object, and nothing that a later version of ours may say in other words: the name
 * must come out the same.
 */
function contentOf({ configuration, identifiers }: JobSpec, requestDigest: string): string {
  const { payload_url: url, payload_name: name, payload_type: type } = configuration;
  const { payload_size: size, digest_type: algorithm, digest_value: digest } = configuration;
  const ids = [identifiers?.primary_id ?? null, ...(identifiers?.local_id ?? [])];
  return JSON.stringify([requestDigest, url, name ?? null, type, size ?? null, algorithm ?? null, digest ?? null, ids]);
}

/** `row` counts from 1. */
export function nameOfRow(batch: Pick<Batch, "id" | "submission">, fleet: string, row: number, spec: JobSpec): JobUuid {
  const { batchID, request_digest: digest } = batch.submission;
  const content = contentOf(spec, digest ?? "");
  return jobUuidOfRow({ fleet, batch: batch.id, batchName: batchID ?? "", row, content });
}

/** Rows with the jobs that they became: [row, number of its job] wherever the numbers do not go on from the row before. */
export type RowNumbers = NonNullable<Expansion["numbers"]>;

export function withRows(known: RowNumbers, row: number, ids: readonly JobId[]): RowNumbers {
  const steps = [...known];
  for (const [i, id] of ids.entries()) {
    const [number, last] = [jobNumber(id), steps.at(-1)];
    const goesOn = last !== undefined && number - last[1] === row + i - last[0];
    if (!goesOn) steps.push([row + i, number]);
  }
  return steps;
}

/** Null: the row has not become a job yet, or a version made it that did not write it down. */
export function jobOfRow({ created, numbers = [] }: Pick<Expansion, "created" | "numbers">, row: number): JobId | null {
  const step = numbers.findLast(([first]) => first <= row);
  return step === undefined || row > created ? null : jobId(step[1] + row - step[0]);
}

/** The number under which a job of this name would be; null: there is none, or no answer. */
export async function findJobId(session: Pick<Session, "get">, uuid: JobUuid): Promise<JobId | null> {
  if (isOthersUuid(uuid)) return await findImported(session, uuid);
  const where = whereIsJob(uuid);
  return where.kind === "number" ? where.id : await findRow(session, where.batch, where.row);
}

async function findImported(session: Pick<Session, "get">, uuid: JobUuid): Promise<JobId | null> {
  const node = await session.get(paths.importedJob(uuid));
  const id = node.ok ? records.jid.decode(node.value.data) : null;
  return id?.ok === true ? id.value : null;
}

async function findRow(session: Pick<Session, "get">, batch: BatchId, row: number): Promise<JobId | null> {
  const node = await session.get(paths.expansion(batch));
  const expansion = node.ok ? records.expansion.decode(node.value.data) : null;
  return expansion?.ok === true ? jobOfRow(expansion.value, row) : null;
}
