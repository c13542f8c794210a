import type { Client } from "@sluice/client";
import { NOT_CONFIGURED } from "./calls.ts";
import { cleanUpHandler } from "./clean-up.ts";
import { depositHandler } from "./deposit.ts";
import { fsckReportHandler, type OnFindings } from "./fsck-report.ts";
import { EXIT, type FleetHandler } from "./handler.ts";
import { patient, type Pause } from "./patient.ts";
import { purgeHandler, type Purges } from "./purge.ts";
import { snapshotHandler } from "./snapshot.ts";

export interface FleetPorts {
  /** null: not configured; jobs that need it wait, and say for what. */
  readonly admin: Client | null;
  readonly intake: Client | null;
  readonly snapshotsDir: string;
  readonly reportsDir: string;
  readonly purges: Purges;
  readonly nowMs: () => number;
  readonly pause: Pause;
  /** A run of this type has succeeded. */
  readonly onDone: (type: string) => Promise<void>;
  readonly onFindings: OnFindings;
}

export const FLEET_TYPES = {
  cleanUp: "fleet/clean-up",
  purge: "fleet/purge",
  snapshot: "fleet/snapshot",
  fsckReport: "fleet/fsck-report",
  deposit: "fleet/deposit",
} as const;

export type HandlerOf = (name: string) => FleetHandler | null;

/** By a job's name; what stands behind another slash tells jobs of one type apart. null: it is none of the fleet's. */
export function fleetHandlers(ports: FleetPorts): HandlerOf {
  const { admin, intake, nowMs } = ports;
  const without = (what: string, setting: string): FleetHandler => {
    const answer = NOT_CONFIGURED(what, setting);
    return () => Promise.resolve(answer);
  };
  const withAdmin = (make: (admin: Client) => FleetHandler): FleetHandler =>
    admin === null ? without("the operators' API", "ADMIN_URL") : patient(make(admin), ports.pause);
  const handlers = new Map<string, FleetHandler>([
    [FLEET_TYPES.cleanUp, withAdmin((client) => cleanUpHandler(client, nowMs))],
    [FLEET_TYPES.purge, purgeHandler(ports.purges)],
    [FLEET_TYPES.snapshot, withAdmin((client) => snapshotHandler(client, ports.snapshotsDir, nowMs))],
    [
      FLEET_TYPES.fsckReport,
      withAdmin((client) => fsckReportHandler(client, ports.reportsDir, nowMs, ports.onFindings)),
    ],
    [FLEET_TYPES.deposit, intake === null ? without("the intake", "INTAKE_URL") : depositHandler(intake, ports.pause)],
  ]);
  return (name) => {
    const type = name.split("/").slice(0, 2).join("/");
    const handler = handlers.get(type);
    return handler === undefined ? null : telling(handler, () => ports.onDone(type));
  };
}

/** It says so only when it is done: one that is refused by somebody it needs is alive, and does nothing. */
const telling =
  (handler: FleetHandler, onDone: () => Promise<void>): FleetHandler =>
  async (job, signal) => {
    const found = await handler(job, signal);
    if (found.exit === EXIT.done || found.exit === EXIT.lookAtIt) await onDone();
    return found;
  };
