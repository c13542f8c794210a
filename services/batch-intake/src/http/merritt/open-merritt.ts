import type { Profile } from "@sluice/ingest-formats";
import type { ProfileStore } from "@sluice/profile-store";
import { type ActionResult, readHolds, releaseHold, setHold } from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import type { MerrittPorts } from "./deps.ts";

const MAX_AGE_MS = 1_000;

interface MerrittParts {
  readonly queue: () => OpenQueue | null;
  readonly profiles: Pick<ProfileStore, "get" | "names">;
  readonly nowMs: () => number;
}

/** Monitors without a token ask for the state: ZooKeeper is asked once a second at most. */
export function openMerritt({ queue, profiles, nowMs }: MerrittParts): MerrittPorts {
  let known: { readonly atMs: number; readonly holds: ReturnType<MerrittPorts["holds"]> } | null = null;
  const look: MerrittPorts["holds"] = async () => {
    const open = queue();
    if (open?.context.session.state !== "connected") return null;
    const holds = await readHolds(open.context.session);
    return holds.ok ? holds.value : null;
  };
  const act = (work: (open: OpenQueue) => Promise<ActionResult>): Promise<ActionResult> => {
    const open = queue();
    known = null;
    return open === null ? Promise.resolve({ kind: "lost" }) : work(open);
  };
  return {
    startedAtMs: nowMs(),
    fleet: () => queue()?.identity.fleet ?? null,
    holds() {
      const now = nowMs();
      if (known === null || now - known.atMs >= MAX_AGE_MS) known = { atMs: now, holds: look() };
      return known.holds;
    },
    setHold: (operator, target) => act(({ context }) => setHold(context, operator, target)),
    releaseHold: (operator, target) => act(({ context }) => releaseHold(context, operator, target)),
    profiles: () =>
      profiles.names().flatMap((name): readonly Profile[] => {
        const found = profiles.get(name);
        return found.ok ? [found.profile] : [];
      }),
  };
}
