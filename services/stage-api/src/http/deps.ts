import type { Log, ServiceParts } from "@sluice/stage-runtime";
import type { StageApiConfig } from "../config.ts";
import type { Seats } from "../claims/seats.ts";
import type { StageApiMetrics } from "../metrics.ts";
import type { Peers } from "./peers.ts";

export interface StageApiDeps {
  readonly seats: Seats;
  readonly peers: Peers;
  readonly service: Pick<ServiceParts, "actor" | "queue">;
  readonly config: Pick<StageApiConfig, "STAGES" | "LEASE_MS" | "CLAIMS_PER_WORKER">;
  readonly metrics: Pick<StageApiMetrics, "late">;
  readonly log: Log;
  /** We stop: nobody gets a job any more. */
  readonly leaving: AbortSignal;
}
