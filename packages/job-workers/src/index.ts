export { type Stats, type WorkerEntry, WorkerEntrySchema } from "./entry.ts";
export type { Told } from "./dead-hooks.ts";
export type { Harvested, HarvestPorts } from "./harvest.ts";
export { judge, type Patience, type Seen, type Verdict } from "./judge.ts";
export { isSystemServed, type ListedWorker } from "./list.ts";
export { isWorkerName, paths as workerPaths } from "./paths.ts";
export type { Registration } from "./registration.ts";
export { releaseSysid, renewSysid, reserveSysid, type Reserved } from "./sysids.ts";
export { type OpenedWorkers, openWorkers, type Registering, type WorkerFacts, type Workers } from "./workers.ts";
