/** A snapshot of the queue's tree, kept in a folder. */
import type { Client } from "@sluice/client";
import { ADMIN } from "@sluice/wire";
import { z } from "zod";
import { outcomeOf } from "./calls.ts";
import { copies, settingsOf } from "./data.ts";
import { EXIT, type FleetHandler, outcome } from "./handler.ts";
import { keepFile, keepNewest, type KeptFiles } from "./kept-files.ts";

const Settings = z.object({ copies: copies(14) });

export const SNAPSHOTS = { prefix: "sluice-tree-", suffix: ".gz" } as const;

export function snapshotHandler(admin: Client, dir: string, nowMs: () => number): FleetHandler {
  const files: KeptFiles = { dir, ...SNAPSHOTS };
  return async (job, signal) => {
    const settings = settingsOf(Settings, job);
    if (!settings.ok) return settings.outcome;
    const answer = await admin.download(ADMIN.snapshot, { signal });
    if (!answer.ok) return outcomeOf(answer);
    const { body, headers } = answer.value;
    if (body === null) return outcome(EXIT.notNow, { why: "the snapshot has no content" });
    try {
      const startedMs = nowMs();
      const kept = await keepFile(files, startedMs, body);
      const removed = await keepNewest(files, settings.value.copies, startedMs);
      return outcome(EXIT.done, { ...kept, removed, consistency: headers.get("x-snapshot-consistency") });
    } catch (error) {
      // The line broke, or the disk is full: a part of a snapshot is none, and never gets its name.
      return outcome(EXIT.notNow, { why: error instanceof Error ? error.message : String(error) });
    }
  };
}
