/** Has the whole tree looked over, keeps the report, and says aloud when something is wrong. */
import type { Client } from "@sluice/client";
import { ADMIN, type FsckReport } from "@sluice/wire";
import { z } from "zod";
import { outcomeOf } from "./calls.ts";
import { copies, settingsOf } from "./data.ts";
import { EXIT, type FleetHandler, outcome } from "./handler.ts";
import { keepFile, keepNewest, type KeptFiles } from "./kept-files.ts";

const Settings = z.object({ copies: copies(30) });
const SHOWN = 10;

export const REPORTS = { prefix: "fsck-", suffix: ".json" } as const;

/** Told of every report, also of one that found nothing. When it fails, the job is tried again. */
export type OnFindings = (report: FsckReport, file: string) => Promise<void>;

export function fsckReportHandler(
  admin: Client,
  dir: string,
  nowMs: () => number,
  onFindings: OnFindings,
): FleetHandler {
  const files: KeptFiles = { dir, ...REPORTS };
  return async (job, signal) => {
    const settings = settingsOf(Settings, job);
    if (!settings.ok) return settings.outcome;
    const answer = await admin.call(ADMIN.fsck, { signal });
    if (!answer.ok) return outcomeOf(answer);
    const report = answer.value;
    const atMs = nowMs();
    try {
      const { name } = await keepFile(files, atMs, [Buffer.from(`${JSON.stringify(report, null, 2)}\n`)]);
      await keepNewest(files, settings.value.copies, atMs);
      const findings = report.findings.slice(0, SHOWN);
      await onFindings(report, name);
      return outcome(report.findings.length === 0 ? EXIT.done : EXIT.lookAtIt, {
        report: name,
        jobs: report.jobs,
        batches: report.batches,
        violations: report.findings.length,
        first: findings.map(({ rule, path, what }) => ({ rule, path, what })),
      });
    } catch (error) {
      return outcome(EXIT.notNow, { why: error instanceof Error ? error.message : String(error) });
    }
  };
}
