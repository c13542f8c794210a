/** Quotas over the tree, by the settings and the profiles. */
import { type BatchId, type BatchSummary, parseBatchId, paths, readBatches } from "@sluice/queue-core";
import { makeInstruments, type ServiceParts } from "@sluice/stage-runtime";
import type { Session } from "@sluice/zookeeper";
import type { IntakeConfig } from "../config.ts";
import { QUOTA_METRICS } from "../metrics.ts";
import type { ProfileOf } from "../ports.ts";
import { type InProgress, OPEN_STATES, sumOf } from "./in-progress.ts";
import { type QuotaLimits, Quotas } from "./quotas.ts";

type QuotaSettings = Pick<
  IntakeConfig,
  "COLLECTION_MAX_BATCHES" | "COLLECTION_MAX_JOBS" | "COLLECTION_MAX_QUEUED_JOBS" | "COLLECTION_MAX_BYTES"
>;

const GB = 1_000_000_000;

export function openQuotas(
  settings: QuotaSettings,
  profileOf: ProfileOf,
  { queue, clock, registry, log }: Pick<ServiceParts, "queue" | "clock" | "registry" | "log">,
): Quotas {
  const { refused } = makeInstruments(QUOTA_METRICS, registry);
  return new Quotas({
    look: async () => {
      const session = queue()?.context.session ?? null;
      return session?.state === "connected" ? readInProgress(session) : null;
    },
    limitsOf: (profile) => limitsOf(settings, profileOf, profile),
    clock,
    onRefused: ({ profile, limit, inProgress, most }) => {
      refused.inc({ limit });
      log.warn({ profile, limit, in_progress: inProgress, most }, "a submission was refused: quota of the collection");
    },
  });
}

export function limitsOf(settings: QuotaSettings, profileOf: ProfileOf, name: string): QuotaLimits {
  const found = profileOf(name);
  const jobs = found.ok ? found.profile.maxJobsInProgress : undefined;
  const gigabytes = found.ok ? found.profile.maxGigabytesInProgress : undefined;
  return {
    batches: settings.COLLECTION_MAX_BATCHES,
    jobs: jobs ?? settings.COLLECTION_MAX_JOBS,
    queued: settings.COLLECTION_MAX_QUEUED_JOBS,
    bytes: gigabytes === undefined ? settings.COLLECTION_MAX_BYTES : gigabytes * GB,
  };
}

const BATCHES_PER_READ = 100;

/** By profile; null = no answer. */
export async function readInProgress(session: Session): Promise<ReadonlyMap<string, InProgress> | null> {
  const lists = await session.readMany(OPEN_STATES.map((state) => ({ children: paths.fleetBatchQueue(state) })));
  if (!lists.ok) return null;
  const ids = lists.value.flatMap((answer): readonly BatchId[] =>
    answer.kind === "children" ? answer.names.flatMap((name) => parseBatchId(name) ?? []) : [],
  );
  const batches: BatchSummary[] = [];
  for (let at = 0; at < ids.length; at += BATCHES_PER_READ) {
    const some = await readBatches(session, ids.slice(at, at + BATCHES_PER_READ));
    if (some === null) return null;
    for (const view of some) if (view.kind === "found") batches.push(view.value);
  }
  return sumOf(batches);
}
