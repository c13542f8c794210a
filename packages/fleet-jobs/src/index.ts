export { EXIT, type FleetHandler, type FleetJob, type FleetOutcome } from "./handler.ts";
export { FLEET_TYPES, fleetHandlers, type FleetPorts, type HandlerOf } from "./fleet-handlers.ts";
export type { OnFindings } from "./fsck-report.ts";
export type { Purges } from "./purge.ts";
export { type CreateSystemJob, type Ensured, ensureSchedules, SYSTEM_SCHEDULES, SYSTEM_TENANT } from "./schedules.ts";
