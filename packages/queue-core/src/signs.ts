/** Signs of change: what to look at, again and again, to learn that a batch or a job has to be read anew. */
import type { Session } from "@sluice/zookeeper";
import type { BatchId, JobId } from "./ids.ts";
import { nodeOf } from "./nodes.ts";
import { paths } from "./paths.ts";
import { BUCKETS } from "./states.ts";

/** Small nodes all: state, rows, and the buckets, whose metadata count the jobs. */
export const signsOfBatch = (id: BatchId): readonly string[] => [
  paths.batchStatus(id),
  paths.expansion(id),
  ...BUCKETS.map((bucket) => paths.bucket(id, bucket)),
];

/** `worker`: the registration of whoever has it in hand, where progress is shown. */
export const signsOfJob = (id: JobId, worker: string | null): readonly string[] => [
  paths.jobStatus(id),
  paths.fleetJob(id),
  paths.jobPriority(id),
  paths.jobLock(id),
  ...(worker === null ? [] : [worker]),
];

export interface Signs {
  /** Differs after any change. */
  readonly print: string;
  /** The transaction of the last change that is still to be seen: grows. */
  readonly zxid: bigint;
}

/** The signs of many things in one round trip, in the order asked; null = no answer. */
export async function readSigns(
  session: Session,
  things: readonly (readonly string[])[],
): Promise<readonly Signs[] | null> {
  const answers = await session.readMany(things.flatMap((signs) => signs.map((get) => ({ get }))));
  if (!answers.ok) return null;
  const nodes = answers.value.map(nodeOf);
  let first = 0;
  return things.map((signs) => {
    const stats = nodes.slice(first, (first += signs.length)).map((node) => node?.stat ?? null);
    const zxids = stats.flatMap((stat) => (stat === null ? [] : [stat.mzxid, stat.pzxid]));
    return {
      print: stats.map((stat) => (stat === null ? "-" : `${stat.czxid}.${stat.mzxid}.${stat.pzxid}`)).join(),
      zxid: zxids.reduce((a, b) => (a > b ? a : b), 0n),
    };
  });
}
