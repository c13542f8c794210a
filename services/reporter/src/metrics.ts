import { makeInstruments, type MetricSpec } from "@sluice/stage-runtime";
import type { Registry } from "prom-client";
import { CLEANERS, type OnCleaner } from "./cleaner.ts";
import { AUDIT_OUTCOMES } from "./audit/trouble.ts";
import type { PostmanParts } from "./postman.ts";
import type { OnShortened } from "./sweeps/audit.ts";
import { BESIDE_FINDINGS, type OnBeside } from "./sweeps/beside.ts";
import type { EndedHoldsParts } from "./sweeps/ended-holds.ts";

export const REPORTER_METRICS = {
  mails: {
    type: "counter",
    name: "sluice_mail_sent_total",
    help: "Reports to be mailed, by outcome: sent, later, refused, nobody (no address to send to)",
    labels: ["outcome"],
    exportedBy: "each worker",
  },
  lifted: {
    type: "counter",
    name: "sluice_holds_lifted_total",
    help: "Holds and pauses that were lifted because their time was over, by kind: collection, queue, stage, worker",
    labels: ["kind"],
    exportedBy: "each worker",
  },
  released: {
    type: "counter",
    name: "sluice_parked_released_total",
    help: "Jobs and batches released because the time of the hold that parked them was over, by what",
    labels: ["what"],
    exportedBy: "each worker",
  },
  auditRuns: {
    type: "counter",
    name: "sluice_audit_runs_total",
    help: "How often the audit was archived and shortened, by outcome: done, no-key, broken-chain, gap, archive, refused, silence",
    labels: ["outcome"],
    exportedBy: "each worker",
  },
  auditRecords: {
    type: "counter",
    name: "sluice_audit_records_total",
    help: "Records of the audit, by what was done: archived, removed (from ZooKeeper), left (of another past, after a restore)",
    labels: ["what"],
    exportedBy: "each worker",
  },
  auditInTree: {
    type: "gauge",
    name: "sluice_audit_records_in_tree",
    help: "Records of the audit in ZooKeeper, as the last run that this worker did left them",
    labels: [],
    exportedBy: "each worker",
  },
  beside: {
    type: "counter",
    name: "sluice_beside_total",
    help: "What a program with CDL's library did beside this fleet: batch (taken over), failure (told its depositor), place (a job put where its status says), overwritten (a job failed by one who had lost it)",
    labels: ["what"],
    exportedBy: "each worker",
  },
  cleaner: {
    type: "gauge",
    name: "sluice_clean_up_by",
    help: "Who looks for batches whose retention is over: 1 for reporter (its own timer) or job-runner (the job fleet/clean-up)",
    labels: ["who"],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

const OUTCOMES = ["sent", "later", "refused", "nobody"] as const satisfies Parameters<ReporterCounters["onMail"]>[0][];

export interface ReporterCounters {
  readonly onMail: NonNullable<PostmanParts["onMail"]>;
  readonly holds: EndedHoldsParts;
  readonly onCleaner: OnCleaner;
  readonly onShortened: OnShortened;
  readonly onBeside: OnBeside;
}

export function reporterCounters(registry: Registry): ReporterCounters {
  const { mails, lifted, released, cleaner, auditRuns, auditRecords, auditInTree, beside } = makeInstruments(
    REPORTER_METRICS,
    registry,
  );
  // Of a counter that appears with its first event, Prometheus does not see the first event.
  for (const outcome of OUTCOMES) mails.inc({ outcome }, 0);
  for (const outcome of AUDIT_OUTCOMES) auditRuns.inc({ outcome }, 0);
  for (const what of BESIDE_FINDINGS) beside.inc({ what }, 0);
  return {
    onBeside: (what) => beside.inc({ what }),
    onCleaner(who) {
      for (const each of CLEANERS) cleaner.set({ who: each }, each === who ? 1 : 0);
    },
    onShortened({ trouble, exported, left, removed, inTree }) {
      auditRuns.inc({ outcome: trouble?.outcome ?? "done" });
      for (const [what, count] of Object.entries({ archived: exported, left, removed }))
        auditRecords.inc({ what }, count);
      auditInTree.set(inTree);
    },
    onMail: (outcome) => mails.inc({ outcome }),
    holds: { onLifted: (kind) => lifted.inc({ kind }), onReleased: (what, count) => released.inc({ what }, count) },
  };
}
