/** A worker of one stage in a process of its own, so that its processor time is the cost of its claims and nothing else. */
import { paths } from "@sluice/queue-core";
import {
  baseConfig,
  consumed,
  done,
  type Duty,
  type Inbox,
  type JobStage,
  Service,
  silentLog,
} from "@sluice/stage-runtime";
import { systemClock } from "@sluice/zookeeper";
import type { Order, Settled } from "./messages.ts";

/** Handlers that are not allowed to end yet. */
const held: (() => void)[] = [];
let allowed = 0;

function mayEnd(): Promise<void> {
  if (allowed > 0) {
    allowed -= 1;
    return Promise.resolve();
  }
  return new Promise((resolve) => held.push(resolve));
}

interface Measurement {
  readonly jobs: number;
  readonly startedMs: number;
  readonly cpu: NodeJS.CpuUsage;
  left: number;
}
let measurement: Measurement | null = null;

function begin({ settle }: Order): void {
  measurement = { jobs: settle, startedMs: performance.now(), cpu: process.cpuUsage(), left: settle };
  const now = held.splice(0, settle);
  allowed = settle - now.length;
  for (const letEnd of now) letEnd();
}

function countSettled(): void {
  if (measurement === null || --measurement.left > 0) return;
  const { user, system } = process.cpuUsage(measurement.cpu);
  const seconds = (performance.now() - measurement.startedMs) / 1000;
  const settled: Settled = { jobs: measurement.jobs, seconds, cpuUs: user + system };
  measurement = null;
  process.send?.(settled);
}

const jobs: JobStage = { kind: "job-stage", takes: "Pending", handle: () => mayEnd().then(() => done()) };
const items: Inbox = {
  kind: "inbox",
  name: "bench",
  path: paths.callbacks,
  exclusive: false,
  handle: () => mayEnd().then(() => consumed),
};
const duties: readonly Duty[] = [process.env["BENCH_WORK"] === "items" ? items : jobs];
const service = new Service(
  { service: "batch-intake", config: baseConfig.parse(process.env), duties },
  {
    clock: systemClock,
    random: Math.random,
    log: silentLog(),
    probe: ({ kind }) => {
      if (kind === "settled" || kind === "item") countSettled();
    },
  },
);
process.on("message", (order: Order) => begin(order));
process.on("disconnect", () => process.exit());
void service.run();
