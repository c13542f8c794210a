/** The service as its duties and its servers. */
import { openKeyFetcher } from "@sluice/access";
import { makeInstruments, type ServiceOptions, type ServiceParts, stampedFolder } from "@sluice/stage-runtime";
import { bulkInbox } from "./bulk/run-operation.ts";
import type { AdminConfig } from "./config.ts";
import { makeJobIndex } from "./index/job-index.ts";
import { ADMIN_METRICS } from "./metrics.ts";
import { type Outside, serveFleet, type Shared } from "./serve-fleet.ts";

export function adminService(config: AdminConfig, outside: Outside): ServiceOptions {
  const keys = openKeyFetcher(config);
  let made: Shared | null = null;
  // Duties are asked for before servers, with the same parts.
  const shared = ({ registry, clock }: ServiceParts): Shared =>
    (made ??= {
      metrics: makeInstruments(ADMIN_METRICS, registry),
      index: makeJobIndex(clock),
      fetchKeys: keys.fetchKeys,
    });
  return {
    service: "admin",
    config,
    duties(parts) {
      const { metrics, index } = shared(parts);
      return [bulkInbox({ onState: (state) => metrics.operations.inc({ state }), onProgress: () => index.refresh() })];
    },
    extraServers: (parts) => serveFleet(config, outside, parts, shared(parts)),
    stamped: () => [
      // Where it is not mounted it is not looked into either.
      stampedFolder({ name: "the working folder", folder: config.WORKING_DIR, writes: false }),
      ...(outside.stamped ?? []),
    ],
    async close() {
      await outside.close?.();
      await keys.close();
    },
  };
}
