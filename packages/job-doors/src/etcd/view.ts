/** A job of the one model in the etcd document's words: its events are the states, its last run is the result. */
import { type Problem, problem } from "@sluice/http-api";
import { CONTAINER_TYPE, containerPhase, containerStates, type JobRecord } from "@sluice/job-queue";
import type { EtcdJob, EtcdNode } from "./schema.ts";

export function showEtcdJob(record: JobRecord): EtcdJob {
  const { Container, Fileset } = parsed(record.data);
  const phase = containerPhase(record.state);
  const result = phase === "FINISHED" ? resultOf(record) : null;
  return {
    Container: objectOf(Container),
    Fileset: objectOf(Fileset),
    Owner: phase === "QUEUED" ? "" : record.owner,
    States: [...containerStates(record)],
    ...(result === null ? {} : { Result: result }),
  };
}

/** 2xx is well; without a code it is the command that says so. */
function resultOf({ state, exit, result, resultRef }: JobRecord): NonNullable<EtcdJob["Result"]> {
  const isWell = state === "FINISHED" && (exit === null || exit === 0 || (exit >= 200 && exit < 300));
  const said = result ?? (resultRef === null ? "" : `${resultRef.bytes} bytes`);
  const code = exit === null ? "" : `exit code ${exit}`;
  const info = isWell ? said : [code, said].filter((part) => part !== "").join(": ");
  return { Status: isWell ? "SUCCESS" : "FAILURE", Info: info };
}

/** What etcd's clients compare: it grows with every write of the job, and once more when the job has gone from the queue. */
export function nodeOf(record: JobRecord, folder: string): EtcdNode {
  const last = record.events.at(-1)?.[0] ?? record.created;
  return {
    key: `/${folder}/${record.jobID}`,
    value: JSON.stringify(showEtcdJob(record)),
    createdIndex: record.jobID,
    modifiedIndex: record.version === undefined ? Math.max(last, record.created) : record.jobID + record.version,
  };
}

export const containerJob = (found: JobRecord): { readonly found: JobRecord } | { readonly problem: Problem } =>
  found.name === CONTAINER_TYPE ? { found } : { problem: problem("NOT_FOUND", "this is no container job") };

function parsed(data: string): Readonly<Record<string, unknown>> {
  return objectOf(JSON.parse(data));
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
