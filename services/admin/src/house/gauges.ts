import type { SnapshotMetric } from "../export-snapshot.ts";
import type { TokenEnd } from "./token-ends.ts";

/** Which ones they are is said in the console: no id is a label, and names may be people's. */
export const TOKEN_METRICS: readonly SnapshotMetric<readonly TokenEnd[]>[] = [
  {
    name: "sluice_tokens_ending",
    help: "Tokens by state: ending (within 14 days), ended (in the last 7); by role, and by place: tree, file",
    labels: ["role", "place", "state"],
    values: (ends) =>
      grouped(ends, ({ role, place, expired }) => ({ role, place, state: expired ? "ended" : "ending" })).map(
        ([labels, tokens]) => [labels, tokens.length],
      ),
  },
  {
    name: "sluice_tokens_first_end_timestamp_seconds",
    help: "When the first of these tokens ends, or ended, by role and place",
    labels: ["role", "place"],
    values: (ends) =>
      grouped(ends, ({ role, place }) => ({ role, place })).map(([labels, tokens]) => [
        labels,
        tokens.reduce((least, { expires }) => Math.min(least, Date.parse(expires)), Infinity) / 1000,
      ]),
  },
];

type Labels = Readonly<Record<string, string>>;

function grouped(ends: readonly TokenEnd[], labelsOf: (end: TokenEnd) => Labels): [Labels, readonly TokenEnd[]][] {
  const groups = new Map<string, [Labels, TokenEnd[]]>();
  for (const end of ends) {
    const labels = labelsOf(end);
    const key = JSON.stringify(labels);
    const group = groups.get(key) ?? [labels, []];
    group[1].push(end);
    groups.set(key, group);
  }
  return [...groups.values()];
}
