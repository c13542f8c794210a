import { openToEveryone } from "../../src/acl.ts";
import type { MultiAnswer, Op, Session } from "../../src/index.ts";

/** A session of which only `multi` works: each call waits until the test answers it. */
export interface ScriptedSession {
  readonly session: Session;
  /** Multis that were sent, in order; answered ones too. */
  readonly sent: readonly (readonly Op[])[];
  /** Answers the oldest multi that has no answer. */
  readonly answer: (answer: MultiAnswer) => Promise<void>;
  /** Answers it as a server would to which all ops are fine. */
  readonly apply: () => Promise<void>;
}

export function scriptedSession(): ScriptedSession {
  const sent: (readonly Op[])[] = [];
  const waiting: { ops: readonly Op[]; resolve: (answer: MultiAnswer) => void }[] = [];
  const multi = (ops: readonly Op[]): Promise<MultiAnswer> =>
    new Promise((resolve) => {
      sent.push(ops);
      waiting.push({ ops, resolve });
    });
  const unused = (): never => {
    throw new Error("not scripted");
  };
  const session: Session = {
    id: 1n,
    timeoutMs: 1000,
    state: "connected",
    lost: new AbortController().signal,
    multi,
    onState: unused,
    untilConnected: unused,
    serverNowMs: unused,
    get: unused,
    exists: unused,
    children: unused,
    readMany: unused,
    readEach: unused,
    aclOf: openToEveryone,
    getAcl: unused,
    setAcl: unused,
    barrier: unused,
    close: unused,
  };
  const answer = async (result: MultiAnswer): Promise<void> => {
    waiting.shift()!.resolve(result);
    await settled();
  };
  return {
    session,
    sent,
    answer,
    apply: () => answer({ ok: true, zxid: 1n, stats: waiting[0]!.ops.map(() => null) }),
  };
}

/** All microtasks have run, and no macrotask. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
