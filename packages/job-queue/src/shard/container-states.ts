/**
 * The States of a container job, as the etcd document has them: every state it has been in, with its step and date. A record
 * keeps few events, so that these stand in the job's data, where the document's own schema has them; the shard writes them,
 * whatever a caller sends. A job whose data stand in the store of blobs has its events alone.
 */
import { membersOf, printMembers } from "../json-text.ts";
import { CONTAINER_STATES_KEPT } from "../limits.ts";
import { parseJson, type Job, type JobEvent } from "../records.ts";
import type { State } from "../states.ts";
import { isObject } from "./data.ts";
import { changed } from "./job.ts";

/** What a runner does with a container. */
export const CONTAINER_TYPE = "container";

export type ContainerPhase = "QUEUED" | "STARTED" | "FINISHED";

export interface ContainerState {
  readonly State: ContainerPhase;
  readonly Step: string;
  readonly Date: string;
}

export function containerPhase(state: State): ContainerPhase {
  if (state === "RUNNING" || state === "RUNQUEUED") return "STARTED";
  return state === "QUEUED" || state === "PAUSED" ? "QUEUED" : "FINISHED";
}

/** What each event made of the job. What is missing changed nothing that the document has a word for. */
const PHASES: Readonly<Record<string, ContainerPhase>> = {
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

const iso = (ms: number): string => new Date(ms).toISOString();

interface Told {
  readonly data: string;
  readonly events: readonly JobEvent[];
  readonly created: number;
  readonly state: State;
  readonly step: string;
}

/** The last one is the present, and has the present step. */
export function containerStates({ data, events, created, state, step }: Told): readonly ContainerState[] {
  const states = statesIn(data) ?? statesOf(events, created);
  const phase = containerPhase(state);
  const [at] = events.at(-1) ?? [created];
  // Of a job that is gone its data say how far it came, and its last event how it ended.
  const isEndMissing = phase === "FINISHED" && states.at(-1)?.State !== "FINISHED";
  const present = withStep(states, step);
  return isEndMissing ? [...present, { State: phase, Step: "", Date: iso(at) }] : present;
}

/** Old events go from a record; the first one is known without them. */
function statesOf(events: readonly JobEvent[], created: number): readonly ContainerState[] {
  const later = events.flatMap(([at, what]): ContainerState[] => {
    const state = what === "create" ? undefined : PHASES[what];
    return state === undefined ? [] : [{ State: state, Step: "", Date: iso(at) }];
  });
  return [{ State: "QUEUED", Step: "", Date: iso(created) }, ...later];
}

const withStep = (states: readonly ContainerState[], step: string): readonly ContainerState[] =>
  states.map((each, at) => (at === states.length - 1 ? { ...each, Step: step } : each));

function statesIn(data: string): readonly ContainerState[] | null {
  const value = parseJson(data);
  const states = isObject(value) ? value["States"] : undefined;
  return Array.isArray(states) && states.length > 0 && states.every(isState) ? states : null;
}

const isState = (value: unknown): value is ContainerState =>
  isObject(value) &&
  ["QUEUED", "STARTED", "FINISHED"].includes(String(value["State"])) &&
  typeof value["Step"] === "string" &&
  typeof value["Date"] === "string";

/** The record that is to be written, with the states of the one before and its own. */
export function withStates(before: Job, after: Job): Job {
  if (after.name !== CONTAINER_TYPE || after.dataRef !== undefined) return after;
  const event = after.ev.at(-1);
  const isMoved = event !== undefined && event !== before.ev.at(-1);
  if (!isMoved && after.data === before.data) return after;
  const kept = statesIn(before.dataRef === undefined ? before.data : "") ?? statesOf(before.ev, before.created);
  const states = isMoved
    ? [...withStep(kept, before.step ?? ""), { State: containerPhase(after.state), Step: "", Date: iso(event[0]) }]
    : kept;
  const isData = isObject(parseJson(after.data));
  const data = new Map(isData ? membersOf(after.data) : []).set("States", JSON.stringify(bounded(states)));
  return changed(after, { data: printMembers(data) });
}

/** The first one, and the last ones. */
function bounded(states: readonly ContainerState[]): readonly ContainerState[] {
  const [first] = states;
  if (first === undefined || states.length <= CONTAINER_STATES_KEPT) return states;
  return [first, ...states.slice(1 - CONTAINER_STATES_KEPT)];
}
