import { readFileSync } from "node:fs";
import { connect as connectTcp, Socket } from "node:net";
import { isNativeError } from "node:util/types";
import { openToEveryone, ownAcl, type AclOf, type Identity } from "./acl.ts";
import type { Server } from "./paths.ts";
import { connectTls, type TlsFiles } from "./tls-socket.ts";

export interface Credential {
  readonly scheme: string;
  readonly secret: string;
}

/** How sessions reach a server, who they are there, and to whom the nodes belong that they create. */
export interface Access {
  /** Called for every connection. Must not throw: what is wrong comes as the socket's error. */
  readonly openSocket: (server: Server) => Socket;
  /** Shown to the server before anything else on the connection that was opened last. */
  readonly credentials: () => readonly Credential[];
  readonly aclOf: AclOf;
}

/** For development: whoever reaches the server may do everything. */
export const OPEN_ACCESS: Access = { openSocket: connectTcp, credentials: () => [], aclOf: openToEveryone };

export interface AccessOptions {
  /** null = plain TCP. */
  readonly tls: TlsFiles | null;
  /** Lines of `user:password`; the server is told all of them. */
  readonly authFile: string | null;
  readonly readers: readonly Identity[];
  /** What the owners of a node may do with it. */
  readonly rightsOf: (path: string) => number;
}

/** Files are read for every connection, so that what was rotated counts from the next one on. */
export function makeAccess({ tls, authFile, readers, rightsOf }: AccessOptions): Access {
  let credentials: readonly Credential[] = [];
  return {
    openSocket: (server) => {
      try {
        credentials = authFile === null ? [] : readDigests(authFile);
        return tls === null ? connectTcp(server) : connectTls(server, tls);
      } catch (error) {
        return brokenSocket(error);
      }
    },
    credentials: () => credentials,
    aclOf: ownAcl(readers, rightsOf),
  };
}

const DIGEST = /^[^:\s]+:.+$/;

/** Throws, without the file's content, when it has none. */
export function readDigests(file: string): readonly Credential[] {
  const lines = readFileSync(file, "utf8").split("\n");
  const digests = lines.map((line) => line.trim()).filter((line) => line !== "");
  if (digests.length === 0) throw new Error(`${file} is empty: user:password is expected`);
  if (!digests.every((line) => DIGEST.test(line))) throw new Error(`${file} has a line that is not user:password`);
  return digests.map((secret) => ({ scheme: "digest", secret }));
}

/** Fails as a connection does, so that it is tried again as a connection is. */
function brokenSocket(error: unknown): Socket {
  return new Socket().destroy(isNativeError(error) ? error : new Error(String(error)));
}
