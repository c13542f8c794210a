import type { OpcodeName } from "./opcodes.ts";

/**
 * pass: as if it were not there.
 * hold: nothing passes either way, and all of it arrives later: a network that stalls.
 * blackhole: connections stay open, everything sent is dropped for good: a silent partition.
 * dropReplies: requests arrive and are carried out, answers are dropped.
 * refuse: nobody listens, and all connections are closed.
 * hang: new connections are accepted and never answered, as by a stopped server; old ones are held.
 */
export type ProxyMode = "pass" | "hold" | "blackhole" | "dropReplies" | "refuse" | "hang";

export interface RequestFrame {
  readonly xid: number;
  /** "connect" for the first frame of a connection. */
  readonly opcode: OpcodeName | "connect" | `opcode ${number}`;
  readonly bytes: Buffer;
}

/**
 * cutBefore: the server never sees it, the connection is cut.
 * cutAfterForward: the server has carried it out, its answer is dropped, the connection is cut.
 * cutInReply: the client gets the first half of the answer, then the connection is cut.
 * dropReply: the answer is dropped, the connection stays.
 */
export type Verdict = "pass" | "cutBefore" | "cutAfterForward" | "cutInReply" | "dropReply";

export type RequestRule = (frame: RequestFrame) => Verdict;

/** What the connections of a proxy look at, each time anew. */
export interface ProxyState {
  mode: ProxyMode;
  delayMs: number;
  rule: RequestRule;
  readonly counts: Map<RequestFrame["opcode"], number>;
}
