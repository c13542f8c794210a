/** The tables as words: what docs/states.md is made of. */
import { BATCH_STATES, type BatchState, JOB_STATES, type JobState } from "./states.ts";
import { batchRow, jobRow, isMerritts, resumeAt, PIPELINE } from "./transitions.ts";

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** Taken by a person, not by a stage. */
  readonly manual: boolean;
}

export function jobEdges(): readonly Edge[] {
  return JOB_STATES.flatMap((from: JobState): Edge[] => {
    const row = jobRow(from);
    const staged: Edge[] = [
      ...(row.done === null ? [] : [{ from, to: row.done, label: "done", manual: false }]),
      ...(row.park === null ? [] : [{ from, to: row.park, label: "collection held", manual: false }]),
      ...(row.fail === null ? [] : [{ from, to: row.fail, label: "fail", manual: false }]),
    ];
    const manual = Object.entries(row.operator).flatMap(([action, to]): Edge[] =>
      to === "resume"
        ? PIPELINE.map((state) => ({ from, to: state, label: action, manual: true }))
        : [{ from, to, label: action, manual: true }],
    );
    return [...staged, ...manual];
  });
}

export function batchEdges(): readonly Edge[] {
  return BATCH_STATES.flatMap((from: BatchState): Edge[] => {
    const row = batchRow(from);
    return [
      ...(row.done === null ? [] : [{ from, to: row.done, label: "done", manual: false }]),
      ...(row.park === null ? [] : [{ from, to: row.park, label: "collection held", manual: false }]),
      ...(row.fail === null ? [] : [{ from, to: row.fail, label: "fail", manual: false }]),
      ...Object.entries(row.operator).map(([action, to]) => ({ from, to, label: action, manual: true })),
    ];
  });
}

const cell = (value: string | null): string => value ?? "–";

export function describeStates(): string {
  return [
    "<!-- Generated from packages/queue-core/src/transitions.ts by `npm run docs`. Do not edit. -->",
    "",
    "# States",
    "",
    "A solid arrow is a stage's move, a dotted one an operator's. Besides: an operator can fail any job that a stage owns,",
    "the runtime quarantines a poison job as Failed, and deleting a batch takes its jobs to Deleted, running ones too.",
    "",
    "## Jobs",
    "",
    ...mermaid(jobEdges().filter((edge) => edge.label !== "fail" || !edge.manual)),
    "",
    "| State | Owner | Done → | Fail → | Collection held → | By an operator | Bucket | A job here |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...JOB_STATES.map((state) => {
      const row = jobRow(state);
      const operator = Object.entries(row.operator).map(([action, to]) =>
        to === "resume" ? action : `${action} → ${to}`,
      );
      return `| ${state} | ${cell(row.owner)} | ${cell(row.done)} | ${cell(row.fail)} | ${cell(row.park)} | ${operator.join(", ") || "–"} | ${row.bucket} | ${row.says} |`;
    }),
    "",
    "### Resuming a failed job",
    "",
    "| Last successful status | Resumes at |",
    "| --- | --- |",
    `| none | ${resumeAt(null)} (refused if the payload was corrupt) |`,
    ...PIPELINE.slice(0, -1).map((state) => `| ${state} | ${resumeAt(state)} |`),
    ...JOB_STATES.filter(isMerritts).map((state) => `| ${state} (written by Merritt) | ${resumeAt(state)} |`),
    "",
    "An operator may choose an earlier stage; the last successful status is then that stage's predecessor.",
    "",
    "## Batches",
    "",
    ...mermaid(batchEdges()),
    "",
    "| State | Owner | Done → | Fail → | Collection held → | By an operator | Jobs can be resumed | A batch here |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...BATCH_STATES.map((state) => {
      const row = batchRow(state);
      const operator = Object.entries(row.operator).map(([action, to]) => `${action} → ${to}`);
      return `| ${state} | ${row.owner.join(", ") || "–"} | ${cell(row.done)} | ${cell(row.fail)} | ${cell(row.park)} | ${operator.join(", ") || "–"} | ${row.resumable ? "yes" : "no"} | ${row.says} |`;
    }),
    "",
  ].join("\n");
}

function mermaid(edges: readonly Edge[]): readonly string[] {
  return [
    "```mermaid",
    "graph LR",
    ...edges.map(
      ({ from, to, label, manual }) => `  ${from} ${manual ? "-." : "--"} ${label} ${manual ? ".->" : "-->"} ${to}`,
    ),
    "```",
  ];
}
