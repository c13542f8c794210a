/** The engine of a batch stage: the batches of one state, each claimed, handled and settled. */
import {
  type Expansion,
  makeBatchStore,
  makeExpander,
  makeIdBlocks,
  parseBatchId,
  paths,
  records,
} from "@sluice/queue-core";
import type { EachAnswer } from "@sluice/zookeeper";
import type { BatchStage } from "../duty.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import type { Scope } from "../engine/scope.ts";
import { BatchWork, type BatchWorkParts } from "./batch-work.ts";
import { type ItemResult, startItemDuty } from "./item-loop.ts";
import { WaitingBatches } from "./waiting-batches.ts";

const HELD_BY_ANOTHER_MS = 1_000;
/** How long an expansion that must wait stays away. */
const WAITS_MS = 2_000;
/** ZooKeeper takes half a megabyte at a time. */
const READS_MAX = 500;
const BROKEN_MS = 5 * 60_000;

export function startBatchStage(duty: BatchStage, scope: Scope): RunningDuty {
  const { queue, actor, identity, workingDir } = scope;
  const parts: BatchWorkParts = {
    scope,
    duty,
    store: makeBatchStore(queue, actor),
    expander: makeExpander(queue, actor, makeIdBlocks(queue), { identity, workingDir }),
  };
  const waiting = new WaitingBatches(scope, duty);
  return startItemDuty(
    {
      name: `batches ${duty.takes}`,
      path: paths.fleetBatchQueue(duty.takes),
      choose: (names) => wanted(duty, scope, names),
      work: (name) => workBatch(parts, waiting, name),
    },
    scope,
  );
}

async function workBatch(parts: BatchWorkParts, waiting: WaitingBatches, name: string): Promise<ItemResult> {
  const { scope, duty, store } = parts;
  const id = parseBatchId(name);
  if (id === null) return { kind: "later", outcome: "broken", delayMs: BROKEN_MS };
  if ((await waiting.reason(id)) !== null) return { kind: "later", outcome: "waits", delayMs: WAITS_MS };
  const claim = await store.claim(duty.takes, id);
  scope.metrics.locks.inc({ result: claim.kind === "lost" || claim.kind === "broken" ? "unknown" : claim.kind });
  switch (claim.kind) {
    case "acquired":
      return await new BatchWork(parts, claim.loaded).run();
    case "held":
    case "gone":
      return { kind: "later", outcome: claim.kind, delayMs: HELD_BY_ANOTHER_MS };
    case "lost":
      return { kind: "later", outcome: "lost", delayMs: HELD_BY_ANOTHER_MS };
    case "broken":
      scope.log.error({ batch_id: id, problem: claim.problem }, "a batch cannot be read: not claimed");
      return { kind: "later", outcome: "broken", delayMs: BROKEN_MS };
  }
}

/** A Processing batch needs no expansion once all its rows are jobs: that is seen without claiming it. */
async function wanted(duty: BatchStage, scope: Scope, names: readonly string[]): Promise<readonly string[]> {
  const { wants } = duty;
  if (wants === undefined) return names;
  const ids = names.flatMap((name) => parseBatchId(name) ?? []);
  const found: string[] = [];
  for (let i = 0; i < ids.length; i += READS_MAX) {
    const part = ids.slice(i, i + READS_MAX);
    const answers = await scope.queue.session.readEach(part.map((id) => ({ get: paths.expansion(id) })));
    if (!answers.ok) return found;
    for (const each of part.filter((_, j) => wants({ state: duty.takes, expansion: expansionOf(answers.value[j]) })))
      found.push(each);
  }
  return found;
}

function expansionOf(answer: EachAnswer | undefined): Expansion | null {
  const expansion = answer?.kind === "node" ? records.expansion.decode(answer.node.data) : null;
  return expansion?.ok === true ? expansion.value : null;
}
