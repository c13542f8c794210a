/** What fsck found, as data and as text. */
import { RULES, type RuleName, type Subject } from "./facts.ts";

export type Severity = "pass" | "warn" | "fail";

export interface Finding {
  readonly rule: RuleName;
  readonly severity: Exclude<Severity, "pass">;
  readonly path: string;
  readonly what: string;
  /** What `repair` would do; absent where only a human can help, who is told how. */
  readonly repair?: string;
  readonly human?: string;
  readonly subject: Subject;
}

export interface RuleCount {
  readonly rule: RuleName;
  readonly demands: string;
  readonly severity: Severity;
  readonly warn: number;
  readonly fail: number;
  readonly repairable: number;
}

export interface FsckReport {
  readonly severity: Severity;
  readonly jobs: number;
  readonly batches: number;
  /** Suspicions that a second look did not confirm: what moved while we looked. */
  readonly unconfirmed: number;
  readonly rules: readonly RuleCount[];
  readonly findings: readonly Finding[];
}

const worst = (warn: number, fail: number): Severity => (fail > 0 ? "fail" : warn > 0 ? "warn" : "pass");

export function makeReport(
  findings: readonly Finding[],
  seen: { readonly jobs: number; readonly batches: number; readonly unconfirmed: number },
): FsckReport {
  const rules = (Object.entries(RULES) as [RuleName, string][]).map(([rule, demands]): RuleCount => {
    const those = findings.filter((finding) => finding.rule === rule);
    const fail = those.filter(({ severity }) => severity === "fail").length;
    const warn = those.length - fail;
    const repairable = those.filter(({ repair }) => repair !== undefined).length;
    return { rule, demands, severity: worst(warn, fail), warn, fail, repairable };
  });
  const severity = worst(
    rules.reduce((sum, { warn }) => sum + warn, 0),
    rules.reduce((sum, { fail }) => sum + fail, 0),
  );
  return { severity, ...seen, rules, findings };
}

export function printReport(report: FsckReport): string {
  const { jobs, batches, unconfirmed, rules, findings } = report;
  return [
    `${report.severity.toUpperCase()}: ${jobs} jobs, ${batches} batches looked at` +
      (unconfirmed === 0 ? "" : `; ${unconfirmed} were moving, and turned out well`),
    ...rules.map(
      ({ rule, demands, severity, warn, fail }) =>
        `${severity.toUpperCase().padEnd(4)} ${rule.padEnd(6)} ${demands}` +
        (severity === "pass" ? "" : ` (${fail} fail, ${warn} warn)`),
    ),
    ...findings.map(
      ({ severity, rule, path, what, repair, human }) =>
        `${severity.toUpperCase()} ${rule} ${path}: ${what}\n     ${repair === undefined ? `by hand: ${human ?? ""}` : `repair: ${repair}`}`,
    ),
    "",
  ].join("\n");
}
