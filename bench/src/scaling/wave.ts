/** The load: two bursts, and a trickle between them under which stages scale in while they work. */
import { type BatchId, parseBatchId, paths, readBatch } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import type { Session } from "@sluice/zookeeper";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export interface Deposit {
  readonly name: string;
  readonly atMs: number;
  readonly jobs: number;
}

const TRICKLE = { fromMs: 28_000, everyMs: 4_000, count: 18, jobs: 4 };

export const WAVE: readonly Deposit[] = [
  { name: "first burst", atMs: 0, jobs: 200 },
  ...Array.from({ length: TRICKLE.count }, (_, n) => ({
    name: `trickle ${n + 1}`,
    atMs: TRICKLE.fromMs + n * TRICKLE.everyMs,
    jobs: TRICKLE.jobs,
  })),
  { name: "second burst", atMs: 100_000, jobs: 160 },
];

export const jobsOf = (wave: readonly Deposit[]): number => wave.reduce((sum, { jobs }) => sum + jobs, 0);

export interface Drained extends Deposit {
  readonly batch: BatchId;
  readonly status: string;
  readonly completed: number;
  /** From its submission to its report. */
  readonly tookMs: number;
}

export interface Shore {
  readonly session: Session;
  readonly intakeUrl: () => string;
  readonly profile: string;
  readonly manifestUrl: (rows: number, series: string) => string;
}

const REPORT_LIMIT_MS = 400_000;

/** Every deposit at its time; returns when the last is reported. */
export const sendWave = (wave: readonly Deposit[], shore: Shore): Promise<readonly Drained[]> =>
  Promise.all(wave.map((deposit, n) => sleep(deposit.atMs).then(() => drain(deposit, `${n}-`, shore))));

async function drain(deposit: Deposit, series: string, shore: Shore): Promise<Drained> {
  const startedMs = performance.now();
  const batch = await submit(shore, shore.manifestUrl(deposit.jobs, series));
  const report = await waitFor(
    async () => {
      const view = await readBatch(shore.session, batch);
      if (view.kind !== "found" || !["Completed", "Failed"].includes(view.value.status.status)) return null;
      return { status: view.value.status.status, completed: view.value.counts["batch-completed"] };
    },
    { what: `report of ${deposit.name}`, limitMs: REPORT_LIMIT_MS },
  );
  return { ...deposit, batch, ...report, tookMs: performance.now() - startedMs };
}

async function submit({ intakeUrl, profile, session }: Shore, manifestUrl: string): Promise<BatchId> {
  const answer = await fetch(`${intakeUrl()}/v1/batches`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": randomUUID() },
    body: JSON.stringify({
      profile,
      submitter: "bench",
      payload_url: manifestUrl,
      type: "single-file-batch-manifest",
    }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`not accepted: ${answer.status} ${text}`);
  const { id, bid } = JSON.parse(text) as { readonly id: string; readonly bid: string | null };
  // Accepted while ZooKeeper was slow, it waits in the journal, and its number is in the tree later.
  const number =
    bid ??
    (await waitFor(async () => {
      const node = await session.get(`${paths.batchUuids}/${id}`);
      return node.ok && node.value.data.toString();
    }));
  const batch = parseBatchId(number);
  if (batch === null) throw new Error(`no batch: ${text}`);
  return batch;
}
