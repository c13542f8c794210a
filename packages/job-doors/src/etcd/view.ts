/** A job of the one model in the etcd document's words: its events are the states, its last run is the result. */
import type { JobRecord } from "@sluice/job-queue";
import type { EtcdJob, EtcdNode, EtcdState } from "./schema.ts";

type Phase = EtcdState["State"];

/** What each event made of the job. What is missing changed nothing that the document has a word for. */
const PHASES: Readonly<Record<string, Phase>> = {
  create: "QUEUED",
  take: "STARTED",
  finish: "FINISHED",
  fail: "FINISHED",
  cancel: "FINISHED",
  poison: "FINISHED",
  repeat: "QUEUED",
  pause: "QUEUED",
  wake: "QUEUED",
  retry: "QUEUED",
  requeue: "QUEUED",
  lapse: "QUEUED",
};

export function phaseOf({ state }: Pick<JobRecord, "state">): Phase {
  if (state === "RUNNING" || state === "RUNQUEUED") return "STARTED";
  return state === "QUEUED" || state === "PAUSED" ? "QUEUED" : "FINISHED";
}

export function showEtcdJob(record: JobRecord): EtcdJob {
  const { Container, Fileset } = parsed(record.data);
  const phase = phaseOf(record);
  const result = phase === "FINISHED" ? resultOf(record) : null;
  return {
    Container: objectOf(Container),
    Fileset: objectOf(Fileset),
    Owner: phase === "QUEUED" ? "" : record.owner,
    States: statesOf(record),
    ...(result === null ? {} : { Result: result }),
  };
}

/** Old events go from a record; the first one is known without them. The step is the present state's. */
function statesOf({ events, created, step }: JobRecord): EtcdState[] {
  const first: EtcdState = { State: "QUEUED", Step: "", Date: iso(created) };
  const later = events.flatMap(([at, what]): EtcdState[] => {
    const State = what === "create" ? undefined : PHASES[what];
    return State === undefined ? [] : [{ State, Step: "", Date: iso(at) }];
  });
  const states = [first, ...later];
  return states.map((each, at) => (at === states.length - 1 ? { ...each, Step: step } : each));
}

/** 2xx is well; without a code it is the command that says so. */
function resultOf({ state, exit, result, resultRef }: JobRecord): NonNullable<EtcdJob["Result"]> {
  const isWell = state === "FINISHED" && (exit === null || exit === 0 || (exit >= 200 && exit < 300));
  const said = result ?? (resultRef === null ? "" : `${resultRef.bytes} bytes`);
  const code = exit === null ? "" : `exit code ${exit}`;
  const info = isWell ? said : [code, said].filter((part) => part !== "").join(": ");
  return { Status: isWell ? "SUCCESS" : "FAILURE", Info: info };
}

/** Its last change is what etcd's clients compare. */
export function nodeOf(record: JobRecord, folder: string): EtcdNode {
  const last = record.events.at(-1)?.[0] ?? record.created;
  return {
    key: `/${folder}/${record.jobID}`,
    value: JSON.stringify(showEtcdJob(record)),
    createdIndex: record.jobID,
    modifiedIndex: Math.max(last, record.created),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

function parsed(data: string): Readonly<Record<string, unknown>> {
  return objectOf(JSON.parse(data));
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
