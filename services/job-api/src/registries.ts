/** Handlers and workers, as the doors want them. */
import type { HandlersPort, JobPorts } from "@sluice/job-doors";
import { type Handlers, openHandlers } from "@sluice/job-handlers";
import { openWorkers } from "@sluice/job-workers";
import type { Clock } from "@sluice/zookeeper";
import { randomUUID } from "node:crypto";
import type { SessionSource } from "./admitted-sessions.ts";
import { perSession } from "./per-session.ts";

/** Null: no answer. */
export type OpenHandlers = () => Promise<Handlers | null>;

export const handlersOf = (sessions: SessionSource, { nowMs }: Clock): OpenHandlers =>
  perSession<Handlers>(sessions, async (session) => {
    const opened = await openHandlers(session, { nowMs, newId: randomUUID });
    return opened.ok ? opened.handlers : null;
  });

export function handlersPort(open: OpenHandlers): HandlersPort {
  return {
    put: async (...asked) => (await (await open())?.put(...asked)) ?? { ok: false, why: "no-answer" },
    async get(...asked) {
      const handlers = await open();
      return handlers === null ? "silence" : handlers.get(...asked);
    },
    list: async (tenant) => (await (await open())?.list(tenant)) ?? "silence",
    remove: async (...asked) => (await (await open())?.remove(...asked)) ?? "silence",
  };
}

export function openWorkersPort(sessions: SessionSource, { nowMs }: Clock): JobPorts["workers"] {
  const open = perSession(sessions, async (session) => {
    const opened = await openWorkers(session, nowMs);
    return opened.ok ? opened.workers : null;
  });
  return async () => {
    const listed = (await (await open())?.list()) ?? null;
    return listed?.map(({ entry: { released: _, ...entry } }) => entry) ?? null;
  };
}
