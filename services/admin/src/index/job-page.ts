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
import type { EachAnswer, Session } from "@sluice/zookeeper";
import type { JobFacts } from "./facts.ts";
import type { JobIndex } from "./job-index.ts";
import type { Listing } from "./listing.ts";
import { mentions } from "./search.ts";

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
  const scan = new Scan(session, index, query);
  const walk = new Walk(listings, query);
  while (!walk.isOver && scan.found.length < query.limit && scan.read < SCANNED_MAX) {
    const taken = await scan.take(walk.window());
    if (taken === null) return null;
    walk.pass(taken);
  }
  const jobs = await readPage(session, scan.found);
  return jobs === null ? null : { jobs, next: walk.isOver ? null : walk.last };
}

/** Over the names of all states asked for, a window at a time: a deep queue is never copied for a page. */
class Walk {
  readonly #rest: { readonly state: JobState; readonly entries: readonly QueueEntry[]; at: number }[];
  last: Position | null = null;

  constructor(listings: readonly Listing[], { after, states }: JobsQuery) {
    this.#rest = listings.map(({ state, entries }) => ({ state, entries, at: startIn(entries, state, after, states) }));
    this.#dropEmpty();
  }

  get isOver(): boolean {
    return this.#rest.length === 0;
  }

  /** All of one state. */
  window(): readonly Position[] {
    const [first] = this.#rest;
    if (first === undefined) return [];
    const { state, entries, at } = first;
    return entries.slice(at, at + WINDOW).map(({ priority, id }) => ({ priority, id, state }));
  }

  pass(count: number): void {
    const [first] = this.#rest;
    if (first === undefined || count === 0) return;
    first.at += count;
    const entry = first.entries[first.at - 1];
    if (entry !== undefined) this.last = { ...entry, state: first.state };
    this.#dropEmpty();
  }

  #dropEmpty(): void {
    while (this.#rest[0] !== undefined && this.#rest[0].at >= this.#rest[0].entries.length) this.#rest.shift();
  }
}

/** Entries are sorted: those up to the position are passed over, and states before it whole. */
function startIn(
  entries: readonly QueueEntry[],
  state: JobState,
  position: Position | undefined,
  states: readonly JobState[],
): number {
  if (position === undefined) return 0;
  const order = states.indexOf(state) - states.indexOf(position.state);
  if (order !== 0) return order < 0 ? entries.length : 0;
  const isAfter = ({ priority, id }: QueueEntry): boolean =>
    priority > position.priority || (priority === position.priority && id > position.id);
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry !== undefined && isAfter(entry)) high = middle;
    else low = middle + 1;
  }
  return low;
}

class Scan {
  readonly found: Position[] = [];
  read = 0;
  readonly #session: Session;
  readonly #index: JobIndex;
  readonly #query: JobsQuery;
  readonly #text: string | null;
  readonly #needsFacts: boolean;

  constructor(session: Session, index: JobIndex, query: JobsQuery) {
    this.#session = session;
    this.#index = index;
    this.#query = query;
    this.#text = query.text ?? null;
    this.#needsFacts = query.scope !== "all" || query.profile !== undefined || this.#text !== null;
  }

  /** How many of the window were looked at, up to the one that made the page full; null = no answer. */
  async take(window: readonly Position[]): Promise<number | null> {
    if (this.#needsFacts && !(await this.#learn(window))) return null;
    const candidates = this.#needsFacts ? window.filter(({ id }) => this.#belongs(this.#index.factsOf(id))) : window;
    const matching = await this.#matching(candidates);
    if (matching === null) return null;
    const room = this.#query.limit - this.found.length;
    for (const each of matching.slice(0, room)) this.found.push(each);
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

  /** Only the nodes that the filters look into are read. */
  async #matching(candidates: readonly Position[]): Promise<readonly Position[] | null> {
    const withCode = this.#query.errorCode === undefined ? candidates : await this.#havingCode(candidates);
    return withCode === null || this.#text === null ? withCode : await this.#havingText(withCode);
  }

  async #havingCode(candidates: readonly Position[]): Promise<readonly Position[] | null> {
    const answers = await this.#nodesOf(candidates, paths.jobStatus);
    return answers === null ? null : candidates.filter((_, i) => this.#hasCode(answers[i]));
  }

  async #havingText(candidates: readonly Position[]): Promise<readonly Position[] | null> {
    const answers = await this.#nodesOf(candidates, paths.jobIdentifiers);
    return answers === null ? null : candidates.filter(({ id }, i) => this.#hasText(id, answers[i]));
  }

  async #nodesOf(
    candidates: readonly Position[],
    pathOf: (id: JobId) => string,
  ): Promise<readonly EachAnswer[] | null> {
    if (candidates.length === 0) return [];
    this.read += candidates.length;
    const answers = await this.#session.readEach(candidates.map(({ id }) => ({ get: pathOf(id) })));
    return answers.ok ? answers.value : null;
  }

  #hasCode(answer: EachAnswer | undefined): boolean {
    const { errorCode } = this.#query;
    const status = answer?.kind === "node" ? records.jobStatus.decode(answer.node.data) : null;
    return status?.ok === true && codeOfMessage(status.value.message) === errorCode;
  }

  #hasText(id: JobId, answer: EachAnswer | undefined): boolean {
    if (this.#text === null) return true;
    const identifiers = answer?.kind === "node" ? records.identifiers.decode(answer.node.data) : null;
    const read = identifiers?.ok === true ? identifiers.value : null;
    return mentions(this.#text, this.#index.factsOf(id)?.name ?? "", read);
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
