/** Three real servers that elect their leader, for tests that kill it. */
import { fourLetterWord, freePort } from "@sluice/local-parts";
import { parseConnect } from "./raw-session.ts";
import { type OwnZooKeeper, ownZooKeeper } from "./test-zookeeper.ts";

export interface Ensemble {
  /** All of them, for clients. */
  readonly connect: string;
  readonly servers: readonly OwnZooKeeper[];
  /** Null while there is none. */
  leader(): Promise<OwnZooKeeper | null>;
  stop(): Promise<void>;
}

const SERVERS = 3;

/** Needs an installed ZooKeeper: servers in containers would not find each other. */
export async function startEnsemble(): Promise<Ensemble> {
  const members = await Promise.all(
    Array.from({ length: SERVERS }, async () => ({ quorumPort: await freePort(), electionPort: await freePort() })),
  );
  const servers = await Promise.all(
    members.map((_, n) => ownZooKeeper({ heapMb: 192, quorum: { id: n + 1, servers: members } })),
  );
  return {
    connect: servers.map(({ connect }) => connect).join(","),
    servers,
    leader: async () => {
      const modes = await Promise.all(
        servers.map(({ connect }) => fourLetterWord({ port: parseConnect(connect).port, tls: null }, "srvr")),
      );
      const at = modes.findIndex((mode) => mode?.includes("Mode: leader") === true);
      return servers[at] ?? null;
    },
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
