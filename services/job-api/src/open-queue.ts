/** The queue of this process: router, store, journal, joined. */
import { queueWithBlobs } from "@sluice/job-doors";
import { type JobJournals, type JournaledAdds, journaledAdds, openJobJournals } from "@sluice/job-journal";
import type { BlobStore, QueuePort } from "@sluice/job-queue";
import { type JobRouter, openJobRouter } from "@sluice/job-router";
import { Archive, type Blobs, openBlobs, RedoWriter } from "@sluice/job-store";
import { makeInstruments, Seldom, type ServiceParts } from "@sluice/stage-runtime";
import { join } from "node:path";
import type { JobApiConfig } from "./config.ts";
import { exportState, journalCounters, REDO_METRICS, routerHooks } from "./metrics.ts";
import { openSessions, type Sessions } from "./open-sessions.ts";

export interface OpenedQueue {
  readonly sessions: Sessions;
  readonly router: JobRouter;
  readonly blobs: Blobs;
  readonly archive: Archive;
  readonly redo: RedoWriter;
  readonly journals: JobJournals;
  readonly adds: JournaledAdds;
  /** What the doors ask: with journal and blobs. */
  readonly queue: QueuePort;
  close(): Promise<void>;
}

const COMPLAIN_EVERY_MS = 60_000;

export const later = (ms: number, wake: () => void): (() => void) => {
  const timer = setTimeout(wake, ms);
  return () => clearTimeout(timer);
};

export async function openJobQueue(config: JobApiConfig, service: ServiceParts): Promise<OpenedQueue> {
  const { clock, log, registry } = service;
  const blobs = await openBlobs(join(config.JOB_STORE_DIR, "blobs"), clock);
  const archive = openArchive(config, { clock, log });
  const sessions = openSessions(config, service);
  const redo = openRedo(config, service);
  const router = await openJobRouter({
    apiId: config.WORKER_ID,
    session: sessions.first,
    others: { sessions: sessions.others, shards: config.QUEUE_ENSEMBLE_SHARDS },
    tenants: config.QUEUE_TENANT_SHARDS,
    peers: {
      listen: { host: config.PEER_HOST, port: config.PEER_PORT },
      secret: config.JOB_PEER_SECRET ?? null,
      advertise: {
        ...(config.PEER_ADVERTISE_HOST !== undefined && { host: config.PEER_ADVERTISE_HOST }),
        ...(config.PEER_ADVERTISE_PORT !== undefined && { port: config.PEER_ADVERTISE_PORT }),
      },
    },
    clock,
    later,
    log,
    hooks: routerHooks(registry),
    redo,
    archiving: { archive, olderThanMs: config.ARCHIVE_AFTER_MS },
    limits: { jobsPerTenant: config.JOBS_PER_TENANT },
  });
  const journals = await openJournals(config, router, blobs, { clock, log, registry });
  const adds = journaledAdds(router, journals, blobs);
  exportState(registry, router, journals);
  return {
    sessions,
    router,
    blobs,
    archive,
    redo,
    journals,
    adds,
    queue: queueWithBlobs(
      {
        ask: (tenant, command) => adds.ask(tenant, command),
        wait: (tenant, command, timeoutMs, gone) => router.wait(tenant, command, timeoutMs, gone),
      },
      blobs,
      (err) => log.error({ err }, "the store of large data failed: the command that needed it was not done"),
    ),
    async close() {
      await journals.close();
      await router.stop();
      await redo.close();
      await sessions.close();
    },
  };
}

function openArchive(config: JobApiConfig, { clock, log }: Pick<ServiceParts, "clock" | "log">): Archive {
  return new Archive({
    nowMs: clock.nowMs,
    folder: join(config.JOB_STORE_DIR, "archive"),
    writer: config.WORKER_ID.replaceAll(".", "_"),
    onBadLine: (file) => log.error({ file }, "a line of the archive cannot be read"),
  });
}

const SEGMENT_BYTES = 16 * 1024 * 1024;

function openRedo(config: JobApiConfig, { clock, log, registry, tree }: ServiceParts): RedoWriter {
  const { lost, cutAt } = makeInstruments(REDO_METRICS, registry);
  const complaints = new Seldom(clock, COMPLAIN_EVERY_MS);
  return new RedoWriter({
    folder: join(config.JOB_STORE_DIR, "redo"),
    segmentBytes: SEGMENT_BYTES,
    keepMs: config.JOB_REDO_KEEP_MS,
    maxBytes: config.JOB_REDO_MAX_BYTES,
    nowMs: clock.nowMs,
    epoch: () => tree()?.epoch ?? null,
    later,
    onLost(transactions, why) {
      lost.inc(transactions);
      if (complaints.isTime())
        log.error(
          { transactions, why },
          "the redo log does not take what the queue writes: a loss of ZooKeeper would lose it",
        );
    },
    onPruned: ({ cutMs }) => cutMs !== null && cutAt.set(cutMs / 1_000),
  });
}

async function openJournals(
  config: JobApiConfig,
  queue: JobRouter,
  blobs: BlobStore,
  { clock, log, registry }: Pick<ServiceParts, "clock" | "log" | "registry">,
): Promise<JobJournals> {
  const counters = journalCounters(registry);
  const opened = await openJobJournals({
    folder: config.JOURNAL_DIR,
    maxBytes: config.JOURNAL_MAX_BYTES,
    segmentBytes: config.JOURNAL_SEGMENT_BYTES,
    clock,
    later,
    queue,
    blobs,
    log: {
      badLine: ({ id, why }) => log.error({ job: id, why }, "a line of the journal cannot be read"),
      badRecord: (facts) => log.error(facts, "a record of the journal cannot be read"),
      opened: (report) => log.info(report, "the journal is open"),
    },
    hooks: {
      onIngested: (_shard, jobs) => counters.ingested.inc(jobs),
      onWaiting: (shard, why) => log.info({ shard, why }, "the journal waits"),
      onFailure: (shard, err) => log.error({ shard, err }, "the journal's lines cannot be taken in: they wait"),
      onRefused(shard, { id, tenant, name }, why) {
        counters.refused.inc();
        log.error({ shard, job: id, tenant, name, why }, "a line of the journal can be no job");
      },
    },
  });
  if (!opened.ok) throw new Error(opened.problem);
  return opened.journals;
}
