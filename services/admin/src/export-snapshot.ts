import { Counter, Gauge, type Registry } from "prom-client";

type Labels = Readonly<Record<string, string>>;

/** A metric whose values are read off one look at something. */
export interface SnapshotMetric<T> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** A counter is one that is kept elsewhere, and shown here; default: gauge. */
  readonly type?: "gauge" | "counter";
  readonly values: (snapshot: T) => readonly (readonly [Labels, number])[];
}

/** Computed at scrape. Without an answer there are no values: none are better than old ones. */
export function exportSnapshot<T>(
  registry: Registry,
  metrics: readonly SnapshotMetric<T>[],
  look: () => Promise<T | null>,
): void {
  for (const { name, help, labels, type, values } of metrics) {
    const configuration = {
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      async collect() {
        const snapshot = await look();
        instrument.reset();
        if (snapshot !== null) for (const [at, value] of values(snapshot)) instrument.inc({ ...at }, value);
      },
    };
    const instrument: Counter | Gauge = type === "counter" ? new Counter(configuration) : new Gauge(configuration);
  }
}
