/** The services as processes of this machine: as many of each stage as somebody wants, and each ended as Kubernetes would. */
import { type Child, freePort, startChild } from "@sluice/local-parts";
import { type Stage, STAGES } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Installation } from "./installation.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const START_LIMIT_MS = 120_000;

interface Replica {
  /** As a StatefulSet numbers its pods: the highest goes first, and a number has its volume. */
  readonly ordinal: number;
  readonly url: string;
  readonly metricsHost: string;
  readonly child: Child;
  leaving: boolean;
}

export interface StageProcesses {
  readonly wanted: (stage: Stage) => number;
  /** Returns when processes are started or asked to end, not when they are ready or gone. */
  scaleTo(stage: Stage, replicas: number): Promise<void>;
  /** host:port of the metrics of whatever runs, also of what is about to end. */
  targets(): readonly string[];
  startAdmin(): Promise<void>;
  untilReady(): Promise<void>;
  readonly intakeUrl: () => string;
  /** Those that ended unasked. */
  readonly deaths: readonly string[];
  /** Asks all to end, and waits for it. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly dataDir: string;
  readonly installation: Installation;
  readonly env: Readonly<Record<string, string>>;
  /** A process came or went. */
  readonly onChange: () => void;
}

export function stageProcesses({ dataDir, installation, env, onChange }: ProcessOptions): StageProcesses {
  const running = new Map<Stage | "admin", Replica[]>([...STAGES, "admin" as const].map((name) => [name, []]));
  const deaths: string[] = [];
  let count = 0;
  const of = (name: Stage | "admin"): Replica[] => running.get(name) ?? [];
  const all = (): readonly Replica[] => [...running.values()].flat();
  const staying = (stage: Stage): readonly Replica[] => of(stage).filter(({ leaving }) => !leaving);

  async function start(name: Stage | "admin", own: Readonly<Record<string, string>>): Promise<void> {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const taken = of(name).map(({ ordinal }) => ordinal);
    const ordinal = Array.from({ length: taken.length + 1 }, (_, n) => n).find((n) => !taken.includes(n)) ?? 0;
    const worker = `${name}-${++count}`;
    const child = await startChild({
      command: process.execPath,
      args: [`dist/programs/${name}.js`],
      cwd: ROOT,
      logFile: join(dataDir, "logs", `${worker}.log`),
      env: {
        ...process.env,
        ...env,
        ...own,
        WORKER_ID: worker,
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
        JOURNAL_DIR: join(dataDir, "journal", String(ordinal)),
      },
    });
    const metricsHost = `127.0.0.1:${metricsPort}`;
    const replica = { ordinal, url: `http://127.0.0.1:${port}`, metricsHost, child, leaving: false };
    of(name).push(replica);
    onChange();
    void child.exited.then((how) => {
      if (!replica.leaving) deaths.push(`${worker}: ${how}`);
      running.set(
        name,
        of(name).filter((each) => each !== replica),
      );
      onChange();
    });
  }

  const end = (replica: Replica): Promise<void> => {
    replica.leaving = true;
    return replica.child.kill("SIGTERM");
  };

  return {
    wanted: (stage) => staying(stage).length,
    scaleTo: async (stage, replicas) => {
      const now = [...staying(stage)].sort((a, b) => a.ordinal - b.ordinal);
      for (const replica of now.slice(replicas)) void end(replica);
      for (let n = now.length; n < replicas; n++) await start(stage, installation[stage].env);
    },
    targets: () => all().map(({ metricsHost }) => metricsHost),
    startAdmin: () => start("admin", {}),
    untilReady: async () => {
      const isReady = async ({ metricsHost }: Replica): Promise<boolean> =>
        (await fetch(`http://${metricsHost}/readyz`).catch(() => null))?.ok === true;
      const areReady = async (): Promise<boolean> => (await Promise.all(all().map(isReady))).every(Boolean);
      await waitFor(areReady, { what: "the fleet", limitMs: START_LIMIT_MS });
    },
    intakeUrl: () => of("batch-intake").find(({ ordinal }) => ordinal === 0)?.url ?? "",
    deaths,
    stop: async () => {
      await Promise.all(all().map(end));
    },
  };
}
