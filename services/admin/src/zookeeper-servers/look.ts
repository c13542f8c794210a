import type { Server } from "@sluice/zookeeper";
import { type ServerFacts, readMntr, readSrvr } from "./answers.ts";
import type { AskServer } from "./ask.ts";

/** One server of the ensemble, as it was just now; `facts` null = it does not serve. */
export interface ServerLook {
  readonly server: string;
  readonly facts: ServerFacts | null;
}

const nameOf = ({ host, port }: Server): string => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);

/** All at once: one that does not answer holds up no other. */
export const lookAtServers = (servers: readonly Server[], ask: AskServer): Promise<readonly ServerLook[]> =>
  Promise.all(servers.map(async (server) => ({ server: nameOf(server), facts: await factsOf(server, ask) })));

async function factsOf(server: Server, ask: AskServer): Promise<ServerFacts | null> {
  const mntr = await ask(server, "mntr");
  if (mntr === null) return null;
  const facts = readMntr(mntr);
  if (facts !== null) return facts;
  // Not on its list of words (4lw.commands.whitelist), or not serving: srvr tells which.
  const srvr = await ask(server, "srvr");
  return srvr === null ? null : readSrvr(srvr);
}
