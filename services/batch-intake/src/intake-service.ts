/** The service as its duties and its server. */
import { type HttpServer, listen } from "@sluice/http-api";
import type { ProfileStore } from "@sluice/profile-store";
import type { Egress } from "@sluice/safe-io";
import type { Duty, ExtraServer, ServiceOptions, ServiceParts } from "@sluice/stage-runtime";
import type { WorkingFolder } from "@sluice/working-folder";
import type { IntakeConfig } from "./config.ts";
import { checkPayloadStage } from "./duties/check-payload.ts";
import { expandBatchStage } from "./duties/expand-batch.ts";
import { startBatchStage } from "./duties/start-batch.ts";
import { sweepIncoming } from "./duties/sweep-incoming.ts";
import type { IncomingFolders } from "./files/incoming.ts";
import { openPayloads } from "./files/payloads.ts";
import { makeApp } from "./http/app.ts";
import { makeIntakeQueue } from "./intake-queue.ts";

export interface IntakeParts {
  readonly config: IntakeConfig;
  readonly egress: Egress;
  readonly working: WorkingFolder;
  readonly incoming: IncomingFolders;
  readonly profiles: ProfileStore;
  readonly hostname: string;
}

export function intakeService(parts: IntakeParts): ServiceOptions {
  return {
    service: "batch-intake",
    config: parts.config,
    duties: intakeDuties(parts),
    extraServers: (service) => [submissionServer(parts, service)],
    async close() {
      await parts.profiles.close();
      await parts.egress.close();
    },
  };
}

function intakeDuties({ config, egress, working, incoming, profiles }: IntakeParts): readonly Duty[] {
  const manifestMaxBytes = config.MANIFEST_MAX_BYTES;
  const profileOf = profiles.get;
  const rules = { mode: config.MANIFEST_MODE, maxBytes: manifestMaxBytes };
  const payloads = openPayloads({ working, egress, manifestMaxBytes });
  return [
    startBatchStage({ payloads, profileOf, rules }),
    expandBatchStage({ payloads, profileOf }),
    checkPayloadStage({ payloads, rules }),
    sweepIncoming(incoming, config.INCOMING_MAX_AGE_MS),
  ];
}

function submissionServer(
  { config, working, incoming, profiles, hostname }: IntakeParts,
  { clock, log, queue }: ServiceParts,
): ExtraServer {
  const app = makeApp({
    queue: makeIntakeQueue(() => queue()?.context ?? null),
    profileOf: profiles.get,
    clock,
    incoming,
    removeBatchFolder: async (bid) => {
      await working.removeBatch(bid);
    },
    uploadMaxBytes: config.UPLOAD_MAX_BYTES,
    hostname,
    log,
  });
  let server: HttpServer | null = null;
  return {
    name: "submissions",
    async start() {
      const listening = await listen(app, { port: config.PORT, host: config.HOST, requestTimeoutMs: 0 });
      if (!listening.ok) throw new Error(listening.message);
      server = listening.server;
      log.info({ url: server.url }, "submissions are taken here");
    },
    stop: async () => server?.close(config.SHUTDOWN_GRACE_MS),
  };
}
