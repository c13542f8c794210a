/**
 * Letting go of locks, for sure. A lock that a living process leaves behind keeps everybody from the job, the batch or
 * the object until that process ends: so it is tried until the lock is gone or another's, or the session is over, and
 * a session that cannot let go is ended.
 */
import type { Op, ReadAnswer } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { deleteOp } from "./job-ops.ts";
import { records } from "./records.ts";

/** Over a bad link the session itself ends long before this. */
const ROUNDS_MAX = 50;

/** `guard` = a status node whose version must not change while its lock is removed. */
export async function letGo(
  ctx: QueueContext,
  locks: readonly string[],
  claim: string,
  guard: string | null,
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const wanted = [...locks, ...(guard === null ? [] : [guard])];
    const answers = await ctx.session.readMany(wanted.map((path) => ({ get: path })));
    if (answers.ok) {
      const ours = locks.flatMap((path, i) => lockOp(path, answers.value[i], claim));
      const checks = guard === null ? [] : checkOp(guard, answers.value[locks.length]);
      if (ours.length === 0) return;
      if ((await ctx.committer.submit({ rank: "commit", ops: [...checks, ...ours] })).ok) return;
    }
    if (!(await ctx.session.untilConnected())) return;
  }
  await ctx.session.close();
}

function lockOp(path: string, answer: ReadAnswer | undefined, claim: string): readonly Op[] {
  if (answer?.kind !== "node") return [];
  const lock = records.lock.decode(answer.node.data);
  return lock.ok && lock.value.claim === claim ? [deleteOp(path, answer.node.stat.version)] : [];
}

const checkOp = (path: string, answer: ReadAnswer | undefined): readonly Op[] =>
  answer?.kind === "node" ? [{ op: "check", path, version: answer.node.stat.version }] : [];
