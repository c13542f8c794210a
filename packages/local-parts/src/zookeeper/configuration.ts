import { join } from "node:path";
import type { Request } from "./types.ts";

/** What a server keeps under its data directory. */
export const layoutOf = (dataDir: string) => ({
  configFile: join(dataDir, "zoo.cfg"),
  logFile: join(dataDir, "zookeeper.log"),
  pidFile: join(dataDir, "zookeeper.pid"),
  data: join(dataDir, "data"),
  transactionLog: join(dataDir, "data", "version-2"),
});

export interface Addresses {
  readonly data: string;
  readonly port: number;
  readonly listen: string;
}

/** zoo.cfg. A whole fleet comes from one address, so the limit of connections per address is off. */
export function configurationText(request: Request, { data, port, listen }: Addresses): string {
  const forTests = [
    // Tests let sessions expire: allow short ones.
    `minSessionTimeout=${request.tickTimeMs}`,
    "4lw.commands.whitelist=*",
  ];
  const forFleets = [
    "4lw.commands.whitelist=srvr,mntr,ruok,conf",
    "autopurge.snapRetainCount=3",
    "autopurge.purgeInterval=1",
  ];
  const lines = [
    `tickTime=${request.tickTimeMs}`,
    `dataDir=${data}`,
    `clientPort=${port}`,
    `clientPortAddress=${listen}`,
    "maxSessionTimeout=60000",
    "maxClientCnxns=0",
    "admin.enableServer=false",
    ...(request.ephemeralData ? forTests : forFleets),
  ];
  return `${lines.join("\n")}\n`;
}

/** Grouped multis fill the log quickly: a snapshot every 128 MB keeps restarts short. */
export const jvmFlags = (request: Request): string[] => [
  `-Xmx${request.heapMb}m`,
  "-XX:+ExitOnOutOfMemoryError",
  "-Dzookeeper.admin.enableServer=false",
  ...(request.ephemeralData
    ? ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=1024"]
    : ["-Dzookeeper.snapSizeLimitInKb=131072"]),
];
