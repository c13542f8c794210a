/** Bedrock's protocol on a TCP port. Jobs that are taken over a connection are its own as long as the socket lives. */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { isLoopback } from "@sluice/access";
import { Errands } from "./errands.ts";
import type { Peer, WirePorts } from "./conversation.ts";
import { renewAll } from "./held-leases.ts";
import { Lobby, LOBBY_LIMITS, type LobbyLimits } from "./lobby.ts";
import { CONNECTION_LIMITS, type ConnectionLimits, WireConnection } from "./wire-connection.ts";

export interface WireServerOptions extends Omit<WirePorts, "errands"> {
  /** Loopback unless it is said otherwise. */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly lobby?: Partial<LobbyLimits>;
  readonly limits?: Partial<ConnectionLimits>;
  /** Those of the other doors, where there are some: their bounds are for all doors together. */
  readonly errands?: Errands;
}

export interface WireServer {
  readonly port: number;
  /** Answers what is being asked, lets what has begun come to its end, and goes. */
  close(): Promise<void>;
}

export type WireListening =
  { readonly ok: true; readonly server: WireServer } | { readonly ok: false; readonly message: string };

const RENEW_EVERY_MS = 1000;
/** Ten probes a second apart follow: a machine that died is noticed within a lease and a half. */
const KEEP_ALIVE_AFTER_MS = 2000;

export async function listenOnWire(options: WireServerOptions): Promise<WireListening> {
  const errands = options.errands ?? new Errands(options.later, { onError: options.onError });
  const ports: WirePorts = { ...options, errands };
  const limits = { ...CONNECTION_LIMITS, ...options.limits };
  const lobby = new Lobby({ ...LOBBY_LIMITS, ...options.lobby });
  const open = new Set<WireConnection>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
    const connection = new WireConnection(socket, peerOf(socket), ports, limits, lobby);
    open.add(connection);
    connection.closed.addEventListener("abort", () => open.delete(connection), { once: true });
  });
  const problem = await listening(server, options.port, options.host ?? "127.0.0.1");
  if (problem !== null) return { ok: false, message: problem };
  const stopRenewing = keepRenewing(ports, open);
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const connection of open) connection.leave();
    await closed;
    stopRenewing();
    await ports.errands.close();
  };
  return { ok: true, server: { port: (server.address() as AddressInfo).port, close } };
}

function listening(server: Server, port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    server.once("error", (error) => resolve(error.message));
    server.listen(port, host, () => resolve(null));
  });
}

/** A round begins when the last one is over: a queue that is slow is not asked twice. */
function keepRenewing(ports: WirePorts, open: ReadonlySet<WireConnection>): () => void {
  let stop: () => void = () => undefined;
  let isOver = false;
  const rest = (): void => {
    if (!isOver) stop = ports.later(RENEW_EVERY_MS, () => void round().catch(ports.onError));
  };
  const round = async (): Promise<void> => {
    await renewAll(
      ports.queue,
      [...open].map(({ conversation }) => conversation.leases),
    ).catch((error: unknown) => ports.onError(error));
    rest();
  };
  rest();
  return () => {
    isOver = true;
    stop();
  };
}

/** Near is this machine alone: in a cluster every address is a private one, so that these mean nothing. */
const peerOf = ({ remoteAddress = "", remotePort = 0 }: Socket): Peer => ({
  name: `tcp ${remoteAddress}:${remotePort}`,
  address: remoteAddress,
  isNear: isLoopback(remoteAddress),
});
