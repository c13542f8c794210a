/** People act through any process: what makes a change theirs is that it carries a name, not whose session wrote it. */
import type { EventKind } from "@sluice/queue-core";
import { newEvents } from "./history.ts";
import type { BatchChange, JobChange } from "./views.ts";

/** Kinds of events that people's actions leave in a job's history; the others are the stages'. */
const OPERATORS_EVENTS: ReadonlySet<EventKind> = new Set(["hold", "release", "resume", "op-fail", "delete"]);

/** In the job's history of this very transaction. */
export const namesOperator = (change: JobChange): boolean =>
  newEvents(change).some(([, , kind]) => OPERATORS_EVENTS.has(kind));

/** The audit names what was acted on: of a group of moves in one transaction it covers that one alone. */
export const isAudited = ({ after, author }: JobChange | BatchChange): boolean => author.audits.has(after.id);

/** A batch has no history of its own: the audit must do. */
export const operatesBatch = (change: BatchChange): boolean => change.author.role === "operator" || isAudited(change);
