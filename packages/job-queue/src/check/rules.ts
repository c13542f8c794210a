/** The invariants that can be seen in the change of one job. */
import { isDeepStrictEqual } from "node:util";
import { blockOf, shardOf } from "../ids.ts";
import { RECORD_BYTES, TAKEN_MAX } from "../limits.ts";
import type { StoredJob } from "../records.ts";
import { isCancelledAlone } from "../shard/cancelled.ts";
import { isOver } from "../shard/over.ts";
import { isLeased, isReachable } from "../states.ts";
import { shardOfTenant } from "../tenants.ts";
import { type JobStep, nameKey, type ShardModel } from "./model.ts";

export interface StepContext {
  readonly shard: ShardModel;
  readonly number: number;
  readonly layout: Readonly<Record<string, number>>;
  readonly timeMs: number;
  /** JOB-TOKEN of the archive's entries that this transaction makes. */
  readonly archived: ReadonlySet<string>;
}

type Rule = (step: JobStep, context: StepContext) => string | null;

/** Clocks of the owner and of the server may differ by this much. */
const SKEW_MS = 1000;

export const STEP_RULES: Readonly<Record<string, Rule>> = {
  "Q-03": ({ id, block, before, after }, { shard }) => {
    if (before !== null || after === null) return null;
    if (shard.gone.has(id)) return "an id is used again";
    return block < shard.ids.next ? null : `made in block ${block}, which nobody has taken`;
  },
  "Q-04": ({ id, block, after }, { number, layout }) => {
    if (after === null) return null;
    if (blockOf(id) !== block || shardOf(id) !== number) return `stands in block ${block} of shard ${number}`;
    return shardOfTenant(after.tenant, layout) === number ? null : `of ${after.tenant}, whose shard is another`;
  },
  "Q-05": ({ bytes }) => (bytes <= RECORD_BYTES ? null : `a record of ${bytes} bytes`),
  "Q-06": ({ after }) => {
    if (after === null || isLeased(after.state) === (after.lease !== undefined)) return null;
    return `${after.state} ${after.lease === undefined ? "without" : "with"} a lease`;
  },
  "Q-07": ({ id, before, after }, { shard }) => {
    const token = after?.lease?.token;
    if (token === undefined || token === before?.lease?.token) return null;
    const holder = shard.tokens.get(token);
    shard.tokens.set(token, id);
    if (holder !== undefined || shard.spent.has(token)) return `token ${token} comes a second time`;
    return Number(token.split(".")[0]) <= shard.ids.term ? null : `token ${token} of a term to come`;
  },
  "Q-08": ({ before, after }, { timeMs }) => {
    if (before === null || after?.lease === undefined || after.lease.token === before.lease?.token) return null;
    return before.nextRun <= timeMs + SKEW_MS ? null : `taken ${before.nextRun - timeMs} ms too early`;
  },
  "Q-09": ({ before, after }) => {
    if (before === null || after === null || after.leaving === true || before.state === after.state) return null;
    return isReachable(before.state, after.state) ? null : `${before.state} to ${after.state}`;
  },
  "Q-10": ({ id, before, after }, { archived }) => {
    if (before?.lease === undefined || after !== null) return null;
    return archived.has(`${id}-${before.lease.token}`) ? null : "deleted out of its holder's hand";
  },
  "Q-12": ({ id, before, after }, { shard }) => {
    if (after === null) return (shard.children.get(id)?.size ?? 0) === 0 ? null : "deleted before its children";
    if (before !== null || after.parent === undefined) return null;
    const parent = shard.jobs.get(after.parent);
    if (parent === undefined) return `made for ${after.parent}, which is not there`;
    if (parent.parent !== undefined) return "a grandchild";
    return parent.tenant === after.tenant && parent.mock === after.mock
      ? null
      : "of another tenant or world than its parent";
  },
  "Q-13": ({ after }, { shard }) => {
    const parent = after?.parent === undefined ? undefined : shard.jobs.get(after.parent);
    if (after?.gate === undefined || parent === undefined) return null;
    const phase = parent.phase ?? 0;
    if (after.lease !== undefined && after.gate > phase) return `runs behind gate ${after.gate} in phase ${phase}`;
    return after.gate <= phase + 1 ? null : `gate ${after.gate} in phase ${phase}`;
  },
  "Q-14": ({ id, before, after }, { shard }) => {
    if (before !== null || after?.unique !== true) return null;
    const others = [...(shard.named.get(nameKey(after)) ?? [])].filter((each) => each !== id && counts(shard, each));
    return others.length === 0 ? null : `a second ${after.name} beside ${others.join(", ")}`;
  },
  "Q-15": ({ before, after }, { shard }) => {
    if (before?.grp === undefined || after === null) return null;
    if (after.grp !== undefined) return "written again with its group";
    return shard.groups.has(before.grp) ? null : "moved before its group was complete";
  },
  "Q-17": ({ before, after }) =>
    before !== null && after !== null && isDeepStrictEqual(before, after) ? "written again as it was" : null,
  "Q-18": ({ before, after }) => {
    if (before === null || after === null) return null;
    const grown = (after.reoffers ?? 0) - (before.reoffers ?? 0);
    if (grown > 1) return `reoffers grew by ${grown}`;
    return (after.reoffers ?? 0) <= TAKEN_MAX ? null : `offered ${after.reoffers ?? 0} times`;
  },
};

function counts(shard: ShardModel, id: number): boolean {
  const job = shard.jobs.get(id);
  return job !== undefined && !isCancelledAlone(job) && !isOver(job, parentOf(shard, job), shard.groups);
}

export const parentOf = (shard: ShardModel, job: StoredJob): StoredJob | null =>
  job.parent === undefined ? null : (shard.jobs.get(job.parent) ?? null);
