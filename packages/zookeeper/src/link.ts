import type { Socket } from "node:net";
import type { Server } from "./paths.ts";
import type { EncodedRequest } from "./wire/requests.ts";
import type { ReplyHeader, WatchEvent } from "./wire/replies.ts";

/**
 * What a session needs of a client: requests go out in order, each is answered once or cut, the connection is made
 * again by itself. The link knows nothing of deadlines or of what a request means; that is the session's part.
 */
export interface Link {
  /** Sends now, or as soon as there is a connection. */
  send(request: EncodedRequest, onReply: (reply: LinkReply) => void): LinkCall;
  ping(): void;
  /** Gives up this connection; the session lives on and another connection is tried. */
  drop(why: string): void;
  /** Nothing is sent any more, ever. */
  end(): void;
}

/** "cut": the connection ended after the request was sent and before its answer came. */
export type LinkReply = ReplyHeader | "cut";

export interface LinkCall {
  /** True once bytes were handed to a socket. */
  readonly sent: boolean;
  /** Takes back a request that was not sent. */
  withdraw(): void;
}

export interface Handshake {
  readonly sessionId: bigint;
  readonly timeoutMs: number;
  /** When we asked: the server has heard of us since. */
  readonly askedAtMs: number;
}

export interface LinkListener {
  /** Frames that must precede everything else on a new connection: credentials, then watches. */
  greeting(lastZxid: bigint): readonly Buffer[];
  connected(handshake: Handshake): void;
  /** The server answered something that was sent at this moment, so it has heard us since then. */
  heard(sentAtMs: number): void;
  notified(event: WatchEvent): void;
  /** A connection, or an attempt at one, is over. */
  disconnected(why: string): void;
  /** The server will not have this session any more. */
  refused(why: string): void;
}

export interface LinkOptions {
  readonly servers: readonly Server[];
  /** What we ask the server for. */
  readonly timeoutMs: number;
  readonly monotonicMs: () => number;
  /** TCP or TLS. Must not throw. */
  readonly openSocket: (server: Server) => Socket;
  /** After this number requests are counted from 1 again; for tests, which cannot send a billion. */
  readonly lastXid?: number;
}
