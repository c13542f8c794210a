/** What the samples say: medians for each depth, and whether a claim in a deep queue costs more than it may. Pure. */
export interface Sample {
  readonly round: number;
  readonly depth: number;
  /** Processor time for each claim, of the worker. */
  readonly workerUs: number;
  /** … and of the server; NaN where it cannot be known. */
  readonly serverUs: number;
  readonly requests: number;
  readonly transactions: number;
  readonly perSecond: number;
}

export interface Row {
  readonly depth: number;
  readonly workerUs: number;
  readonly serverUs: number;
  readonly totalUs: number;
  readonly requests: number;
  readonly transactions: number;
  readonly perSecond: number;
}

export interface Verdict {
  readonly rows: readonly Row[];
  readonly problems: readonly string[];
}

/** The cost at the greatest depth, as a multiple of that at the smallest. */
export const COST_FACTOR_MAX = 1.25;

const LIMITED = [
  ["workerUs", "processor time of the worker"],
  ["totalUs", "processor time of worker and server"],
  ["requests", "requests"],
  ["transactions", "transactions"],
] as const satisfies readonly (readonly [keyof Row, string])[];

export function judge(samples: readonly Sample[]): Verdict {
  const depths = [...new Set(samples.map(({ depth }) => depth))].sort((a, b) => a - b);
  const rows = depths.map((depth) =>
    rowOf(
      depth,
      samples.filter((each) => each.depth === depth),
    ),
  );
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return { rows, problems: ["nothing was measured"] };
  const problems = LIMITED.flatMap(([key, name]) => {
    // What cannot be counted here (a server elsewhere) is not judged.
    if (key === "totalUs" && Number.isNaN(last.serverUs)) return [];
    const factor = last[key] / first[key];
    const figures = `${round(last[key])} at ${last.depth}, ${round(first[key])} at ${first.depth}`;
    return factor <= COST_FACTOR_MAX
      ? []
      : [
          `not met: ${name} for each claim are ${factor.toFixed(2)} times as much (${figures}), at most ${COST_FACTOR_MAX} are allowed`,
        ];
  });
  return { rows, problems };
}

function rowOf(depth: number, samples: readonly Sample[]): Row {
  const of = (value: (sample: Sample) => number): number => median(samples.map(value));
  return {
    depth,
    workerUs: of(({ workerUs }) => workerUs),
    serverUs: of(({ serverUs }) => serverUs),
    totalUs: of(({ workerUs, serverUs }) => workerUs + serverUs),
    requests: of(({ requests }) => requests),
    transactions: of(({ transactions }) => transactions),
    perSecond: of(({ perSecond }) => perSecond),
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

const HEAD = ["waiting", "worker us", "server us", "both us", "requests", "transactions", "claims/s"];

export function table({ rows }: Verdict): string {
  const lines = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, i) => Math.max(...lines.map((cells) => cells[i]?.length ?? 0)));
  return lines.map((cells) => cells.map((cell, i) => cell.padStart(widths[i] ?? 0)).join("  ")).join("\n");
}

const cellsOf = (row: Row): string[] =>
  [row.depth, row.workerUs, row.serverUs, row.totalUs, row.requests, row.transactions, row.perSecond].map(round);

const round = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
