import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll } from "@jest/globals";
import { ownZooKeeper, type OwnZooKeeper } from "@sluice/testkit";
import { ensureChroot, openSession, type Session, type SessionOptions, type SessionState } from "../../src/index.ts";
import { startFaultProxy, type FaultProxy } from "./fault-proxy.ts";

/** Two ticks of 200 ms are the least a server grants; this leaves room for a busy machine. */
export const TIMEOUT_MS = 1500;

/** One server per file, for these tests stop and kill it; one chroot per test; everything opened through it is closed after the test. */
export interface Bundle {
  readonly server: OwnZooKeeper;
  /** A chroot of its own that exists, to append to an address. */
  freshChroot(): Promise<string>;
  proxy(): Promise<FaultProxy>;
  session(options?: Partial<SessionOptions>): Promise<Session>;
}

export function useZooKeeper(): Bundle {
  let server: OwnZooKeeper | null = null;
  const cleanups: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    server = await ownZooKeeper({ tickTimeMs: 200 });
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  afterAll(() => server?.stop());

  const bundle: Bundle = {
    get server() {
      return server!;
    },
    freshChroot: async () => {
      const chroot = `/test-${randomUUID()}`;
      await ensureChroot({ connect: bundle.server.connect + chroot, timeoutMs: TIMEOUT_MS });
      return chroot;
    },
    proxy: async () => {
      const proxy = await startFaultProxy(portOf(bundle.server.connect));
      cleanups.push(() => proxy.stop());
      return proxy;
    },
    session: async (options = {}) => {
      const connect = options.connect ?? bundle.server.connect + (await bundle.freshChroot());
      const opened = await openSession({ timeoutMs: TIMEOUT_MS, ...options, connect });
      if (!opened.ok) throw new Error(opened.why);
      cleanups.push(() => opened.session.close());
      return opened.session;
    },
  };
  return bundle;
}

export const portOf = (connect: string): number => Number(connect.split(":")[1]);

/** Resolves at the first change to that state, or at once if it has it. */
export function untilState(session: Session, wanted: SessionState): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.onState((state) => {
      if (state !== wanted) return;
      stop();
      resolve();
    });
    if (session.state === wanted) resolve();
  });
}

export const text = (value: string): Buffer => Buffer.from(value);
