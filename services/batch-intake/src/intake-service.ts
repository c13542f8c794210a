/** The service as its duties and its server. */
import { type FetchKeys, openKeyFetcher } from "@sluice/access";
import { countRefusals, HTTP_METRICS, type HttpServer, isProxyOf, listen } from "@sluice/http-api";
import type { ProfileStore } from "@sluice/profile-store";
import type { BatchPlace } from "@sluice/queue-core";
import type { Egress } from "@sluice/safe-io";
import {
  type Duty,
  type ExtraServer,
  makeInstruments,
  type ServiceOptions,
  type ServiceParts,
  type StampedPart,
  stampedFolder,
} from "@sluice/stage-runtime";
import {
  type AcceptedBatches,
  type BatchFolders,
  hasUploads,
  listAccepted,
  type WorkingFolder,
} from "@sluice/working-folder";
import type { IntakeConfig } from "./config.ts";
import { checkPayloadStage } from "./duties/check-payload.ts";
import { expandBatchStage } from "./duties/expand-batch.ts";
import { startBatchStage } from "./duties/start-batch.ts";
import { sweepAccepted } from "./duties/sweep-accepted.ts";
import { sweepFolders } from "./duties/sweep-folders.ts";
import { sweepIncoming } from "./duties/sweep-incoming.ts";
import { type KeepAccepted, keepAcceptedIn } from "./files/accepted-records.ts";
import type { IncomingFolders } from "./files/incoming.ts";
import { openPayloads } from "./files/payloads.ts";
import { makeApp } from "./http/app.ts";
import { openWall } from "./http/open-wall.ts";
import type { Archive } from "./http/reading/lookup.ts";
import { openMerritt } from "./http/merritt/open-merritt.ts";
import { openReading } from "./http/reading/open-reading.ts";
import { makeIntakeQueue } from "./intake-queue.ts";
import { countStreams } from "./gauges.ts";
import type { OpenBacklog } from "./journal/open-backlog.ts";
import { ingesterServer, journalCheck } from "./journal/serve-journal.ts";
import { ACCEPTED_METRICS, FOLDER_METRICS, SCHEDULE_METRICS } from "./metrics.ts";
import { openQuotas } from "./quota/open-quotas.ts";
import type { Quotas } from "./quota/quotas.ts";
import { openSchedules } from "./submission/open-schedules.ts";

export interface IntakeParts {
  readonly config: IntakeConfig;
  readonly egress: Egress;
  readonly working: WorkingFolder;
  readonly folders: BatchFolders;
  readonly accepted: AcceptedBatches;
  readonly incoming: IncomingFolders;
  readonly profiles: ProfileStore;
  readonly journaled: OpenBacklog;
  readonly hostname: string;
  /** Of batches that have left the queue; null: there is none to ask. */
  readonly archive: (Archive & { readonly stamp: StampedPart; close(): Promise<void> }) | null;
}

export function intakeService(parts: IntakeParts): ServiceOptions {
  const keys = openKeyFetcher(parts.config);
  // One for the server and the duties: what the one accepts, the other counts.
  let opened: Quotas | null = null;
  const quotasOf = (service: ServiceParts): Quotas =>
    (opened ??= openQuotas(parts.config, parts.profiles.get, service));
  let keeping: KeepAccepted | null = null;
  const keeperOf = (service: ServiceParts): KeepAccepted => (keeping ??= keeperIn(parts, service));
  return {
    service: "batch-intake",
    config: parts.config,
    duties: (service) => intakeDuties(parts, quotasOf(service), keeperOf(service), service),
    extraServers: (service) => [
      oneAfterTheOther(
        submissionServer(
          parts,
          keys.fetchKeys,
          { quotas: quotasOf(service), keepAccepted: keeperOf(service) },
          service,
        ),
        ingesterOf(parts, keeperOf(service), service),
      ),
    ],
    standIn: () => journalCheck(parts.journaled),
    stamped: () => [
      stampedFolder({ name: "the working folder", folder: parts.config.WORKING_DIR }),
      stampedFolder({ name: "the journal", folder: parts.config.JOURNAL_DIR }),
      ...(parts.archive === null ? [] : [parts.archive.stamp]),
    ],
    async close() {
      await parts.journaled.journal.close();
      await parts.profiles.close();
      await parts.egress.close();
      await keys.close();
      await parts.archive?.close();
    },
  };
}

function keeperIn({ accepted, working }: IntakeParts, { registry, log }: ServiceParts): KeepAccepted {
  const { unkept } = makeInstruments(ACCEPTED_METRICS, registry);
  return keepAcceptedIn(
    accepted,
    (place) => hasUploads(working.root, place),
    ({ uuid, place }, { message }) => {
      unkept.inc();
      log.error(
        { batch_id: place.batchId, batch_uuid: uuid, why: message },
        "an accepted submission stands in the queue alone: its record cannot be written",
      );
    },
  );
}

function intakeDuties(
  parts: IntakeParts,
  quotas: Quotas,
  keepAccepted: KeepAccepted,
  { registry }: ServiceParts,
): readonly Duty[] {
  const { config, egress, working, folders, incoming, profiles } = parts;
  const { removed } = makeInstruments(FOLDER_METRICS, registry);
  const onRemoved = (): void => removed.inc();
  const manifestMaxBytes = config.MANIFEST_MAX_BYTES;
  const profileOf = profiles.get;
  const rules = { mode: config.MANIFEST_MODE, maxBytes: manifestMaxBytes };
  const payloads = openPayloads({ working, egress, manifestMaxBytes });
  return [
    startBatchStage({ payloads, profileOf, rules }),
    expandBatchStage({ payloads, profileOf, quotas }),
    checkPayloadStage({ payloads, rules }),
    sweepIncoming(incoming, config.INCOMING_MAX_AGE_MS),
    sweepFolders({ folders, graceMs: config.INCOMING_MAX_AGE_MS, onRemoved }),
    sweepAccepted({ listed: () => listAccepted(config.WORKING_DIR), keepAccepted }),
  ];
}

/** Also at the end: what the first still takes, the second still finds. */
function oneAfterTheOther(first: ExtraServer, second: ExtraServer): ExtraServer {
  return {
    name: `${first.name}, ${second.name}`,
    async start() {
      await first.start();
      await second.start();
    },
    async stop() {
      await first.stop();
      await second.stop();
    },
  };
}

function ingesterOf(
  { config, journaled, working }: IntakeParts,
  keepAccepted: KeepAccepted,
  service: ServiceParts,
): ExtraServer {
  const removeBatchFolder = async (batch: BatchPlace): Promise<void> => {
    await working.removeBatch(batch);
  };
  return ingesterServer(journaled, removeBatchFolder, keepAccepted, service, config.JOURNAL_DRAIN);
}

function submissionServer(
  { config, journaled, working, incoming, profiles, hostname, archive }: IntakeParts,
  fetchKeys: FetchKeys,
  { quotas, keepAccepted }: { readonly quotas: Quotas; readonly keepAccepted: KeepAccepted },
  service: ServiceParts,
): ExtraServer {
  const { clock, log, queue, registry } = service;
  const countStream = countStreams(registry);
  const reading = openReading({
    queue: () => queue()?.context ?? null,
    archive,
    backlog: journaled.backlog,
    onStream(change) {
      countStream(change);
      if (change === "refused" || change === "cut") log.warn({ change }, "a listener was turned away");
    },
  });
  const wall = openWall(config, fetchKeys, service);
  const { refused: schedulesRefused } = makeInstruments(SCHEDULE_METRICS, registry);
  const app = makeApp({
    queue: makeIntakeQueue(queue, keepAccepted),
    backlog: journaled.backlog,
    uploads: journaled.uploads,
    profileOf: profiles.get,
    clock,
    incoming,
    removeBatchFolder: async (batch) => {
      await working.removeBatch(batch);
    },
    uploadLimits: {
      fileBytes: config.UPLOAD_MAX_BYTES,
      formBytes: config.UPLOAD_FORM_MAX_BYTES,
      unnamedBytes: config.UPLOAD_UNNAMED_MAX_BYTES,
    },
    quotas,
    hostname,
    version: config.SLUICE_VERSION,
    reading,
    merritt: openMerritt({ queue, profiles, nowMs: clock.nowMs }),
    wall,
    callerById: (id) => wall.authenticator.callerById(id),
    onScheduleRefused: (schedule, why) => {
      schedulesRefused.inc();
      log.warn({ schedule, why }, "a run of a deposit for later was refused");
    },
    trustedProxies: config.TRUSTED_PROXIES,
    schedules: openSchedules(config),
    scheduleLimits: {
      perDepositor: config.SCHEDULES_PER_DEPOSITOR,
      leastIntervalMs: config.SCHEDULE_INTERVAL_MIN_MS,
    },
    log,
  });
  let server: HttpServer | null = null;
  return {
    name: "submissions",
    async start() {
      const listening = await listen(app, {
        port: config.PORT,
        host: config.HOST,
        limits: config,
        isProxy: isProxyOf(app),
        onRefused: countRefusals(makeInstruments(HTTP_METRICS, registry)),
        onClose: () => reading.streams.close(),
      });
      if (!listening.ok) throw new Error(listening.message);
      server = listening.server;
      log.info({ url: server.url }, "submissions are taken here");
    },
    stop: async () => server?.close(config.SHUTDOWN_GRACE_MS),
  };
}
