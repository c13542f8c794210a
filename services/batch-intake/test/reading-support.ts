/** A real queue served over HTTP, its archive, and a reader of its event streams. */
import { join } from "node:path";
import { ANYBODY, type Caller } from "@sluice/access";
import { addOperations, callers, createApp, listen } from "@sluice/http-api";
import { type Inventory, openInventory } from "@sluice/inventory";

import { testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import type { QueueContext } from "@sluice/queue-core";
import { openReading } from "../src/http/reading/open-reading.ts";
import { readingOperations } from "../src/http/reading/operations.ts";
import { type Cleanups, temporaryFolder } from "./support.ts";

export interface ReadingSite {
  readonly connect: string;
  readonly intake: TestWorker;
  readonly archive: Inventory;
  readonly url: string;
  /** ZooKeeper does not answer while this is false. */
  answering: boolean;
  /** Who asks. */
  caller: Caller;
  /** How often signs were read. */
  readonly looks: () => number;
  readonly stop: () => Promise<void>;
  ask(path: string, headers?: Record<string, string>): Promise<{ status: number; body: Answer; response: Response }>;
}

/** JSON of whatever was asked for. */
export type Answer = Record<string, unknown> & {
  readonly items: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
  readonly errors: readonly { readonly field: string }[];
};

const NOTHING_WAITS = { find: () => Promise.resolve(null), refusals: () => [] };

export async function serveReading(cleanups: Cleanups): Promise<ReadingSite> {
  const { connect } = await testZooKeeper();
  const intake = await testWorker(connect, "batch-intake");
  cleanups.add(() => intake.close());
  const folder = await temporaryFolder(cleanups);
  const archive = await openInventory({ kind: "sqlite", file: join(folder, "inventory.db") });
  cleanups.add(() => archive.close());
  let looks = 0;
  const { session } = intake.ctx;
  const counted: QueueContext = {
    ...intake.ctx,
    session: new Proxy(session, {
      get(target, name) {
        if (name === "readMany" || name === "readEach") looks += 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    }),
  };
  const queue = (): QueueContext | null => (site.answering ? counted : null);
  const reading = openReading({ queue, archive, backlog: NOTHING_WAITS, liveEveryMs: 20 });
  const authenticator = { authenticate: () => Promise.resolve({ kind: "caller", caller: site.caller } as const) };
  const app = createApp({ onError: (error) => console.error(error) }, (express) => {
    express.use(callers({ authenticator }));
    addOperations(express, readingOperations(reading));
  });
  const listening = await listen(app, { port: 0, onClose: () => reading.streams.close() });
  if (!listening.ok) throw new Error(listening.message);
  const { server } = listening;
  cleanups.add(() => server.close(0));
  const site: ReadingSite = {
    connect,
    intake,
    archive,
    url: server.url,
    answering: true,
    caller: ANYBODY,
    looks: () => looks,
    stop: () => server.close(60_000),
    async ask(path, headers = {}) {
      const response = await fetch(server.url + path, { headers });
      return { status: response.status, body: (await response.json()) as Answer, response };
    },
  };
  return site;
}

export interface Received {
  readonly event?: string;
  readonly id?: string;
  readonly data?: Record<string, unknown>;
}

export interface Listening {
  readonly status: number;
  /**
   * The next event, comments and retry times left out; null at the end. Nor is a view that was told before: one that was newer
   * than its id is told again under the right one.
   */
  readonly next: () => Promise<Received | null>;
  readonly close: () => void;
}

export async function listenTo(url: string, headers: Record<string, string> = {}): Promise<Listening> {
  const gone = new AbortController();
  const response = await fetch(url, { headers, signal: gone.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let heard = "";
  const block = async (): Promise<string | null> => {
    for (let end = text.indexOf("\n\n"); end < 0; end = text.indexOf("\n\n")) {
      const part = await reader?.read();
      if (part?.value === undefined) return null;
      text += part.value;
    }
    const found = text.slice(0, text.indexOf("\n\n"));
    text = text.slice(found.length + 2);
    return found;
  };
  const next = async (): Promise<Received | null> => {
    const found = await block();
    if (found === null) return null;
    const fields = Object.fromEntries(found.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
    if (fields["event"] === undefined) return next();
    const said = `${fields["event"]} ${fields["data"] ?? ""}`;
    if (said === heard) return next();
    heard = said;
    return { ...fields, data: JSON.parse(fields["data"] ?? "null") as Record<string, unknown> };
  };
  return { status: response.status, next, close: () => gone.abort() };
}
