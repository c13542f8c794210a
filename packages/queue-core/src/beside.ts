/**
 * A program that uses CDL's library, and has one stage of this tree for itself. It knows no history and no fence: what it
 * has written is told from what this fleet has written by the order of the transactions, which ZooKeeper keeps.
 */
import type { Answer, Session, Stat } from "@sluice/zookeeper";
import { leftIn } from "./fleet-job.ts";
import { paths } from "./paths.ts";
import { type BesideRecord, type FleetJob, records } from "./records.ts";
import type { JobState } from "./states.ts";
import { jobRow, stateOf } from "./transitions.ts";

/** A stage whose work needs no files of ours and no guard that the library does not know. */
export const BESIDE_STAGES = ["recorder"] as const;
export type BesideStage = (typeof BESIDE_STAGES)[number];

export interface Beside {
  readonly stage: BesideStage;
  /** The state that it takes jobs from. */
  readonly takes: JobState;
  /** Of the transaction that let it in: what is older was not made by it. */
  readonly zxid: bigint;
  readonly record: BesideRecord;
  readonly version: number;
}

/** null: there is none, or only a newer version can read what is said of it. */
export async function readBeside(session: Pick<Session, "get">): Promise<Answer<Beside | null>> {
  const node = await session.get(paths.beside);
  if (!node.ok) return node.code === "NO_NODE" ? { ok: true, value: null } : node;
  const record = records.beside.decode(node.value.data);
  const stage = record.ok ? BESIDE_STAGES.find((each) => each === record.value.stage) : undefined;
  const takes = stage === undefined ? null : stateOf(stage);
  if (!record.ok || stage === undefined || takes === null) return { ok: true, value: null };
  const { czxid: zxid, version } = node.value.stat;
  return { ok: true, value: { stage, takes, zxid, record: record.value, version } };
}

/** By it, and not by Merritt before: that is for an import. */
export const isMadeBeside = (beside: Beside, node: Pick<Stat, "czxid">): boolean => node.czxid > beside.zxid;

/** What somebody who is not of this fleet did to a job since our last write. */
export type ForeignWrite =
  | { readonly kind: "none" }
  /** Its stage has moved the job, by a way of the table. */
  | { readonly kind: "moved"; readonly from: JobState }
  /**
   * No way of its stage leads there from where this fleet had left the job: written by one who had lost the job and did not
   * know. `from` null: only a newer version knows where that was.
   */
  | { readonly kind: "overwritten"; readonly from: JobState | null };

const NONE: ForeignWrite = { kind: "none" };

type Written = Pick<Stat, "version" | "mzxid">;

/** As every write of ours to a status is one transaction with one to the history, a status that is newer is not ours. */
export const isNewer = (status: Written, history: Written): boolean =>
  status.version > 0 && status.mzxid > history.mzxid;

export function judgeWrite(
  { takes, zxid }: Pick<Beside, "takes" | "zxid">,
  status: { readonly state: JobState; readonly stat: Written },
  history: { readonly job: FleetJob; readonly stat: Written },
): ForeignWrite {
  if (!isNewer(status.stat, history.stat) || status.stat.mzxid <= zxid) return NONE;
  const from = leftIn(history.job);
  if (from === status.state) return NONE;
  const row = jobRow(takes);
  const isItsMove = from === takes && (status.state === row.done || status.state === row.fail);
  return isItsMove ? { kind: "moved", from } : { kind: "overwritten", from };
}

/** For people. */
export const overwritten = (from: JobState | null, to: JobState): string =>
  `this fleet left it ${from ?? "in a state that only a newer version knows"}, another program wrote ${to}: see sluice fsck`;
