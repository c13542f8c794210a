/** A page of jobs by filter: candidates from the index, the page itself read afresh. */
import { inScope, type Scope } from "@sluice/access";
import {
  codeOfMessage,
  type JobId,
  type JobState,
  type JobView,
  paths,
  type QueueEntry,
  readJobs,
  records,
} from "@sluice/queue-core";
import type { ReadAnswer, Session } from "@sluice/zookeeper";
import type { JobFacts } from "./facts.ts";
import type { JobIndex } from "./job-index.ts";

export interface JobsQuery {
  readonly scope: Scope;
  readonly states: readonly JobState[];
  readonly profile?: string | undefined;
  readonly errorCode?: string | undefined;
  /** In name, ARK or local ids; upper and lower case are the same. */
  readonly text?: string | undefined;
  readonly limit: number;
  readonly after?: Position | undefined;
}

export interface Position extends QueueEntry {
  readonly state: JobState;
}

export interface JobsPage {
  readonly jobs: readonly JobView[];
  readonly next: Position | null;
}

/** One page never reads more than so many jobs to find its own: it is short then, and goes on. */
export const SCANNED_MAX = 2_000;
const WINDOW = 250;
const JOBS_PER_READ = 100;

/** null = no answer. */
export async function jobsPage(session: Session, index: JobIndex, query: JobsQuery): Promise<JobsPage | null> {
  const listings = await index.list(session, query.states);
  if (listings === null) return null;
  const positions = listings.flatMap(({ state, entries }) =>
    after(entries, state, query.after, query.states).map((entry): Position => ({ ...entry, state })),
  );
  const scan = new Scan(session, index, query);
  let at = 0;
  while (at < positions.length && scan.found.length < query.limit && scan.read < SCANNED_MAX) {
    const window = positions.slice(at, at + WINDOW);
    const taken = await scan.take(window);
    if (taken === null) return null;
    at += taken;
  }
  const jobs = await readPage(session, scan.found);
  return jobs === null ? null : { jobs, next: at < positions.length ? (positions[at - 1] ?? null) : null };
}

/** Entries are sorted: those up to the position are passed over, and states before it whole. */
function after(
  entries: readonly QueueEntry[],
  state: JobState,
  position: Position | undefined,
  states: readonly JobState[],
): readonly QueueEntry[] {
  if (position === undefined) return entries;
  const order = states.indexOf(state) - states.indexOf(position.state);
  if (order !== 0) return order < 0 ? [] : entries;
  const isAfter = ({ priority, id }: QueueEntry): boolean =>
    priority > position.priority || (priority === position.priority && id > position.id);
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry !== undefined && isAfter(entry)) high = middle;
    else low = middle + 1;
  }
  return entries.slice(low);
}

class Scan {
  readonly found: Position[] = [];
  read = 0;
  readonly #session: Session;
  readonly #index: JobIndex;
  readonly #query: JobsQuery;
  readonly #text: string | null;
  readonly #needsFacts: boolean;
  readonly #needsNodes: boolean;

  constructor(session: Session, index: JobIndex, query: JobsQuery) {
    this.#session = session;
    this.#index = index;
    this.#query = query;
    this.#text = query.text?.toLowerCase() ?? null;
    this.#needsNodes = query.errorCode !== undefined || this.#text !== null;
    this.#needsFacts = query.scope !== "all" || query.profile !== undefined || this.#text !== null;
  }

  /** How many of the window were looked at, up to the one that made the page full; null = no answer. */
  async take(window: readonly Position[]): Promise<number | null> {
    if (this.#needsFacts && !(await this.#learn(window))) return null;
    const candidates = this.#needsFacts ? window.filter(({ id }) => this.#belongs(this.#index.factsOf(id))) : window;
    const matching = this.#needsNodes ? await this.#matching(candidates) : candidates;
    if (matching === null) return null;
    const room = this.#query.limit - this.found.length;
    this.found.push(...matching.slice(0, room));
    const last = matching.length > room ? this.found.at(-1) : undefined;
    return last === undefined ? window.length : window.indexOf(last) + 1;
  }

  async #learn(window: readonly Position[]): Promise<boolean> {
    const unknown = window.filter(({ id }) => this.#index.factsOf(id) === null);
    this.read += unknown.length;
    return unknown.length === 0 || (await this.#index.learn(this.#session, unknown));
  }

  /** What is not known has gone meanwhile, or is broken: it is in nobody's collection. */
  #belongs(facts: JobFacts | null): boolean {
    const { scope, profile } = this.#query;
    if (facts === null) return false;
    return inScope(scope, facts.collection) && (profile === undefined || facts.collection === profile);
  }

  async #matching(candidates: readonly Position[]): Promise<readonly Position[] | null> {
    if (candidates.length === 0) return [];
    this.read += candidates.length;
    const answers = await this.#session.readMany(
      candidates.flatMap(({ id }) => [{ get: paths.jobStatus(id) }, { get: paths.jobIdentifiers(id) }]),
    );
    if (!answers.ok) return null;
    return candidates.filter(
      ({ id }, i) => this.#hasCode(answers.value[i * 2]) && this.#hasText(id, answers.value[i * 2 + 1]),
    );
  }

  #hasCode(answer: ReadAnswer | undefined): boolean {
    const { errorCode } = this.#query;
    if (errorCode === undefined) return true;
    const status = answer?.kind === "node" ? records.jobStatus.decode(answer.node.data) : null;
    return status?.ok === true && codeOfMessage(status.value.message) === errorCode;
  }

  #hasText(id: JobId, answer: ReadAnswer | undefined): boolean {
    const text = this.#text;
    if (text === null) return true;
    if (this.#index.factsOf(id)?.name.toLowerCase().includes(text) === true) return true;
    const identifiers = answer?.kind === "node" ? records.identifiers.decode(answer.node.data) : null;
    if (identifiers?.ok !== true) return false;
    const { primary_id, local_id } = identifiers.value;
    return [primary_id ?? "", ...local_id].some((each) => each.toLowerCase().includes(text));
  }
}

/** As they are now: one that has left its state since it was listed is left out. */
async function readPage(session: Session, found: readonly Position[]): Promise<readonly JobView[] | null> {
  const jobs: JobView[] = [];
  for (let i = 0; i < found.length; i += JOBS_PER_READ) {
    const some = found.slice(i, i + JOBS_PER_READ);
    const views = await readJobs(
      session,
      some.map(({ id }) => id),
    );
    if (views === null) return null;
    for (const [k, view] of views.entries()) {
      if (view.kind === "found" && view.value.status.status === some[k]?.state) jobs.push(view.value);
    }
  }
  return jobs;
}
