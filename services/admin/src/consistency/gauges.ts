import { type FsckReport, RULES } from "@sluice/fsck";
import type { Instruments, MetricSpec } from "@sluice/stage-runtime";

// prettier-ignore
export const CONSISTENCY_METRICS = {
  violations: { type: "gauge", name: "sluice_consistency_violations",                   labels: ["rule", "level"], exportedBy: "every process", help: "What the last look at the whole tree found, by rule of fsck: warn (younger than an hour, or a foreign node), fail" },
  lastCheck:  { type: "gauge", name: "sluice_consistency_last_check_timestamp_seconds", labels: [],                exportedBy: "every process", help: "When the whole tree was last looked over, in Unix time; 0 = not since the start" },
  duration:   { type: "gauge", name: "sluice_consistency_check_duration_seconds",       labels: [],                exportedBy: "every process", help: "How long the last look took" },
  interval:   { type: "gauge", name: "sluice_consistency_check_interval_seconds",       labels: [],                exportedBy: "every process", help: "FSCK_INTERVAL_MS; 0 = the tree is not looked over" },
} as const satisfies Record<string, MetricSpec>;

export type ConsistencyMetrics = Instruments<typeof CONSISTENCY_METRICS>;

/** Every rule has a value: one that is kept shows a zero, and one that is kept again goes back to it. */
export function showReport({ violations }: ConsistencyMetrics, { rules }: FsckReport): void {
  const found = new Map(rules.map((each) => [each.rule, each]));
  for (const rule of Object.keys(RULES) as (keyof typeof RULES)[]) {
    const { warn = 0, fail = 0 } = found.get(rule) ?? {};
    violations.set({ rule, level: "warn" }, warn);
    violations.set({ rule, level: "fail" }, fail);
  }
}
