import { join } from "node:path";
import type { Quorum, Request, ServerTls } from "./types.ts";

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
    ...(request.tls === null
      ? [`clientPort=${port}`, `clientPortAddress=${listen}`]
      : securePort(request.tls, port, listen)),
    "maxSessionTimeout=60000",
    "maxClientCnxns=0",
    "admin.enableServer=false",
    ...(request.quorum === null ? [] : ensemble(request.quorum)),
    ...(request.ephemeralData ? forTests : forFleets),
  ];
  return `${lines.join("\n")}\n`;
}

const ensemble = ({ servers }: Quorum): string[] => [
  "initLimit=50",
  "syncLimit=25",
  ...servers.map(({ quorumPort, electionPort }, n) => `server.${n + 1}=127.0.0.1:${quorumPort}:${electionPort}`),
];

/** No `clientPort`: there is no way around TLS. The provider makes an identity of the certificate's subject. */
const securePort = ({ keyStoreFile, caFile }: ServerTls, port: number, listen: string): string[] => [
  `secureClientPort=${port}`,
  `secureClientPortAddress=${listen}`,
  "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
  "authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider",
  `ssl.keyStore.location=${keyStoreFile}`,
  `ssl.trustStore.location=${caFile}`,
  "ssl.clientAuth=need",
];

/** Grouped multis fill the log quickly: a snapshot every 128 MB keeps restarts short. */
export const jvmFlags = (request: Request): string[] => [
  `-Xmx${request.heapMb}m`,
  "-XX:+ExitOnOutOfMemoryError",
  "-Dzookeeper.admin.enableServer=false",
  ...(request.ephemeralData
    ? ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=1024"]
    : ["-Dzookeeper.snapSizeLimitInKb=131072"]),
];
