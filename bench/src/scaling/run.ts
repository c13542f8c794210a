/** One wave through the fleet, with the autoscaler or with one replica of each stage all the time. */
import { STAGES } from "@sluice/queue-core";
import { makeTree, ownZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession } from "@sluice/zookeeper";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ContentServer, serveContent } from "../content.ts";
import { autoscaler, NO_AUTOSCALER } from "./autoscaler.ts";
import { receiveCallbacks } from "./callbacks.ts";
import type { Installation } from "./installation.ts";
import { startScraping } from "./prometheus.ts";
import { type StageProcesses, stageProcesses } from "./stage-processes.ts";
import { lookAt, type Moment } from "./timeline.ts";
import { judge, type Verdict } from "./verdict.ts";
import { type Deposit, type Drained, sendWave } from "./wave.ts";

export type Mode = "fixed" | "autoscaled";

export interface RunOptions {
  readonly mode: Mode;
  readonly installation: Installation;
  readonly hasteFactor: number;
  readonly wave: readonly Deposit[];
}

export interface RunResult {
  readonly mode: Mode;
  readonly moments: readonly Moment[];
  readonly drained: readonly Drained[];
  readonly verdict: Verdict;
}

/** In the place of the servers that depositors run: long enough that waiting, not this machine's processor, is the work. */
const DELAYS = { headMs: 1_000, getMs: 2_000, callbackMs: 1_000 };
/** As the scalers' questions have it. */
const NAMESPACE = "sluice";
const PROFILE = "sluice_bench_content";
/** A busy machine must not look like trouble. */
const SESSION_MS = 30_000;
const REST_LIMIT_MS = 120_000;

export async function runWave(options: RunOptions): Promise<RunResult> {
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-scaling-"));
  const [zk, content, callbacks] = await Promise.all([
    ownZooKeeper(),
    serveContent(DELAYS),
    receiveCallbacks(DELAYS.callbackMs),
  ]);
  try {
    await makeTree(zk.connect);
    await prepare(dataDir, callbacks.url);
    const { moments, drained, deaths } = await drive(options, { dataDir, connect: zk.connect, content });
    const verdict = await judge({
      drained,
      callbackKeys: callbacks.keys,
      logsDir: join(dataDir, "logs"),
      deaths,
      transactionLogDir: zk.logDir,
    });
    return { mode: options.mode, moments, drained, verdict };
  } finally {
    content.close();
    callbacks.close();
    await zk.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Site {
  readonly dataDir: string;
  readonly connect: string;
  readonly content: ContentServer;
}

interface Driven {
  readonly moments: readonly Moment[];
  readonly drained: readonly Drained[];
  readonly deaths: readonly string[];
}

async function drive({ mode, installation, hasteFactor, wave }: RunOptions, site: Site): Promise<Driven> {
  const prometheus = await startScraping(join(site.dataDir, "prometheus"), NAMESPACE, hasteFactor);
  const processes = stageProcesses({
    dataDir: site.dataDir,
    installation,
    env: environment(site),
    onChange: () => prometheus.watch(processes.targets()),
  });
  const session = await connectSession({ connect: site.connect, timeoutMs: SESSION_MS });
  try {
    const least = mode === "fixed" ? () => 1 : (stage: (typeof STAGES)[number]) => installation[stage].rule.min;
    await processes.startAdmin();
    for (const stage of STAGES) await processes.scaleTo(stage, least(stage));
    await processes.untilReady();
    await waitFor(async () => (await lookNow(prometheus, processes, 0)).stages.notifier.ready !== null);
    const scaler = mode === "fixed" ? NO_AUTOSCALER : autoscaler(installation, prometheus, processes);
    const moments: Moment[] = [];
    const startedMs = performance.now();
    const polling = everyPoll(installation.downloader.rule.pollMs, async () => {
      await scaler.poll();
      moments.push(await lookNow(prometheus, processes, (performance.now() - startedMs) / 1_000));
    });
    const { manifestUrl } = site.content;
    const whole = async (): Promise<readonly Drained[]> => {
      const all = await sendWave(wave, { session, intakeUrl: processes.intakeUrl, profile: PROFILE, manifestUrl });
      const isAtRest = (): boolean => STAGES.every((stage) => processes.wanted(stage) === least(stage));
      await waitFor(isAtRest, { what: "scaling in", limitMs: REST_LIMIT_MS });
      return all;
    };
    const drained = await Promise.race([whole(), polling.failed]).finally(polling.stop);
    await processes.stop();
    return { moments, drained, deaths: processes.deaths };
  } finally {
    await processes.stop();
    await Promise.all([session.close(), prometheus.stop()]);
  }
}

const lookNow = (
  prometheus: Parameters<typeof lookAt>[0],
  processes: StageProcesses,
  seconds: number,
): Promise<Moment> => lookAt(prometheus, NAMESPACE, processes.wanted, seconds);

interface Polling {
  /** Never resolves. */
  readonly failed: Promise<never>;
  /** Returns when the last poll has ended. */
  readonly stop: () => Promise<void>;
}

function everyPoll(pollMs: number, act: () => Promise<void>): Polling {
  let over = false;
  const loop = async (): Promise<void> => {
    let nextMs = performance.now();
    while (!over) {
      await act();
      nextMs = Math.max(nextMs + pollMs, performance.now());
      await sleep(nextMs - performance.now());
    }
  };
  const ended = loop();
  return {
    failed: new Promise((_, reject) => void ended.catch(reject)),
    stop: async () => {
      over = true;
      await ended.catch(() => undefined);
    },
  };
}

async function prepare(dataDir: string, callbackUrl: string): Promise<void> {
  for (const folder of ["queue", "profiles", "store", "outbox", "logs"]) await mkdir(join(dataDir, folder));
  const profile = [
    `ProfileID: ${PROFILE}`,
    "ProfileDescription: Content of measurements",
    "Identifier-scheme: ARK",
    "Identifier-namespace: 99999",
    "Collection.1: ark:/99999/fk4bench0collection",
    "Type: MRT-curatorial",
    "Role: MRT-content",
    "Aggregate:",
    "Owner: ark:/99999/fk4bench0owner",
    "Notification.1: depositor@example.org",
    "StorageNode: 1",
    `CallbackURL: ${callbackUrl}`,
    "",
  ];
  await writeFile(join(dataDir, "profiles", PROFILE), profile.join("\n"));
}

const environment = ({ dataDir, connect }: Site): Readonly<Record<string, string>> => ({
  ZOOKEEPER_CONNECT: connect,
  ZK_SESSION_TIMEOUT_MS: String(SESSION_MS),
  WORKING_DIR: join(dataDir, "queue"),
  PROFILES_DIR: join(dataDir, "profiles"),
  STORAGE_URL: `ocfl:${join(dataDir, "store")}`,
  INVENTORY_URL: `sqlite:${join(dataDir, "inventory.db")}`,
  MAIL_URL: `outbox:${join(dataDir, "outbox")}`,
  ALLOW_LOOPBACK: "true",
  // Two seconds are much where time runs fast.
  SURVEY_MAX_AGE_MS: "250",
});
