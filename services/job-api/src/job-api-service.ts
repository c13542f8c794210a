/** The service: no duties, one thing that listens. */
import { openKeyFetcher } from "@sluice/access";
import {
  type ExtraServer,
  type ServiceOptions,
  type ServiceParts,
  stampedFolder,
  type StandIn,
} from "@sluice/stage-runtime";
import type { JobApiConfig } from "./config.ts";
import { type Doors, type DoorsParts, openDoors } from "./doors.ts";
import { drainJournals } from "./drain-journals.ts";
import { type Housekeeping, startHousekeeping } from "./housekeeping.ts";
import { type OpenedQueue, openJobQueue } from "./open-queue.ts";

export type Told = Pick<DoorsParts, "onListening">;

export function jobApiService(config: JobApiConfig, told: Told = {}): ServiceOptions {
  const keys = openKeyFetcher(config);
  let opened: OpenedQueue | null = null;
  const server = (service: ServiceParts): ExtraServer => {
    let doors: Doors | null = null;
    let housekeeping: Housekeeping | null = null;
    return {
      name: "jobs",
      async start() {
        opened = await openJobQueue(config, service);
        housekeeping = startHousekeeping(config, opened, service);
        doors = await openDoors({ config, opened, service, fetchKeys: keys.fetchKeys, ...told });
      },
      /** What the doors still took is answered, and what waits here is handed on, before the shards are left. */
      async stop() {
        await doors?.close();
        if (config.JOURNAL_DRAIN && opened !== null)
          await drainJournals(opened.journals, service.log, service.aborting);
        await housekeeping?.stop();
        await opened?.close();
      },
    };
  };
  return {
    service: "job-api",
    config,
    duties: [],
    extraServers: (service) => [server(service)],
    standIn: () => journalCheck(opened),
    stamped: () => [
      stampedFolder({ name: "the journals of jobs", folder: config.JOURNAL_DIR }),
      stampedFolder({ name: "the store of jobs", folder: config.JOB_STORE_DIR }),
    ],
    close: () => keys.close(),
  };
}

/** Ready without ZooKeeper: jobs are journaled, until there is no room. */
function journalCheck(opened: OpenedQueue | null): StandIn {
  const stats = [...(opened?.journals.stats().values() ?? [])];
  const lines = stats.reduce((sum, each) => sum + each.lines, 0);
  const broken = stats.find((each) => each.broken !== null)?.broken ?? null;
  const isFull = stats.some(({ usedRatio }) => usedRatio >= 1);
  const detail = broken ?? `${lines} jobs wait${isFull ? ", and there is no room for more" : ""}`;
  return { name: "journal", ok: opened !== null && !isFull && broken === null, detail };
}
