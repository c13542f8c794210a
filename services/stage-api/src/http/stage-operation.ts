/** How a stage stands, for those who wonder why no job comes. */
import { type Operation, problem } from "@sluice/http-api";
import { paths, readHolds, records } from "@sluice/queue-core";
import { STAGE_API, type StageInfo } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";
import type { RemoteStage } from "../stages.ts";
import type { StageApiDeps } from "./deps.ts";
import { serve } from "./serve.ts";

const SILENCE = problem("UNAVAILABLE", "ZooKeeper does not answer at the moment", { retryAfterSeconds: 2 });

export const stageOperation = (deps: StageApiDeps): Operation =>
  serve(
    deps,
    STAGE_API.stage,
    async ({ stage }) => {
      const open = deps.service.queue();
      const info = open === null ? null : await readStage(open.context.session, stage);
      return info === null ? { problem: SILENCE } : { value: info };
    },
    { problems: [] },
  );

async function readStage(session: Session, { stage, takes, mayWrite }: RemoteStage): Promise<StageInfo | null> {
  const [holds, queue, names] = await Promise.all([
    readHolds(session),
    session.exists(paths.queue(takes)),
    session.children(paths.stageWorkers(stage)),
  ]);
  if (!holds.ok || !queue.ok || !names.ok) return null;
  const nodes = await session.readMany(names.value.names.map((name) => ({ get: paths.worker(stage, name) })));
  if (!nodes.ok) return null;
  const workers = names.value.names.map((worker, i) => {
    const node = nodes.value[i];
    const record = node?.kind === "node" ? records.worker.decode(node.node.data) : null;
    const known = record?.ok === true ? record.value : null;
    return { worker, via: known?.via?.worker ?? null, jobs: known?.jobs.length ?? 0 };
  });
  const closed = [
    ...(holds.value.queuePaused ? ["queue-paused"] : []),
    ...(holds.value.pausedStages.has(stage) ? ["stage-paused"] : []),
  ];
  return { stage, state: takes, waiting: queue.value?.numChildren ?? 0, closed, may_write: [...mayWrite], workers };
}
