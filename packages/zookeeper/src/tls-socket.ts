import { readFileSync } from "node:fs";
import { connect as connectTcp, isIP } from "node:net";
import { connect, createSecureContext, type TLSSocket } from "node:tls";
import type { Server } from "./paths.ts";

export interface TlsFiles {
  /** Whom we trust, in place of the system's list: a public CA has no say about our servers. */
  readonly caFile: string;
  /** null = we show none. */
  readonly own: { readonly certFile: string; readonly keyFile: string } | null;
  /** The name that every server's certificate must carry; null = each one its own, as in the connect string. */
  readonly servername: string | null;
}

/** Throws when a file cannot be read or is no certificate or key. */
export function connectTls(server: Server, { caFile, own, servername }: TlsFiles): TLSSocket {
  const secureContext = createSecureContext({
    ca: readFileSync(caFile),
    ...(own === null ? {} : { cert: readFileSync(own.certFile), key: readFileSync(own.keyFile) }),
    minVersion: "TLSv1.2",
  });
  const name = servername ?? server.host;
  const below = connectTcp(server);
  const socket = connect({
    socket: below,
    secureContext,
    host: name,
    // An address is no name to be asked for; it is compared with the certificate all the same.
    ...(isIP(name) === 0 ? { servername: name } : {}),
  });
  below.on("error", (error) => socket.destroy(error));
  // Node resets only plain sockets, and a mere end would let megabytes arrive that the kernel still holds.
  socket.resetAndDestroy = () => {
    below.resetAndDestroy();
    return socket.destroy();
  };
  return socket;
}
