/** A batch through the fleet that `npm start` starts: how fast, and how much memory each process takes at most. */
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "@sluice/local-parts";
import { type BatchId, parseBatchId, paths, readBatch, records, STAGES } from "@sluice/queue-core";
import { connectSession, type Session } from "@sluice/zookeeper";
import { serveContent } from "./content.ts";
import { cpuSeconds, LIMIT_MB, peakMb } from "./process-costs.ts";
import { print } from "./print.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const LOOK_AGAIN_MS = 250;
const START_LIMIT_MS = 120_000;

interface FleetFile {
  readonly zookeeper: string;
  readonly services: Readonly<Record<string, string>>;
  readonly tokens: { readonly depositor: string };
}

/** Where the batch is submitted, and as whom. */
interface Intake {
  readonly url: string;
  readonly token: string;
}

/** False: a process was above the limit, or the batch did not complete. */
export async function measureFleet(rows: number): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const content = await serveContent();
  const logFile = join(dataDir, "bench.log");
  const fleet = await startChild({
    command: process.execPath,
    args: ["dist/programs/fleet.js", "--no-sample", "--data", dataDir],
    cwd: ROOT,
    logFile,
  });
  try {
    const { zookeeper, services, tokens } = await untilReady(fleet, dataDir, logFile);
    const session = await connectSession({ connect: zookeeper, timeoutMs: 30_000 });
    const gone = fleet.exited.then((how) => Promise.reject(new Error(`the fleet ended, ${how}`)));
    const intake = { url: services["batch-intake"] ?? "", token: tokens.depositor };
    const batch = measureBatch(session, intake, content.manifestUrl(rows), rows);
    const done = await Promise.race([batch, gone]);
    gone.catch(() => undefined); // at the end it is asked to
    const modest = await printCosts(session);
    await session.close();
    return done && modest;
  } finally {
    content.close();
    await fleet.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function untilReady(fleet: Child, dataDir: string, logFile: string): Promise<FleetFile> {
  const ended = fleet.exited.then((how) => new Error(`the fleet ended, ${how}`));
  const deadlineMs = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadlineMs) {
    const said = await readFile(logFile, "utf8").catch(() => "");
    if (said.includes("processes are ready")) {
      return JSON.parse(await readFile(join(dataDir, "fleet.json"), "utf8")) as FleetFile;
    }
    const end = await Promise.race([ended, sleep(LOOK_AGAIN_MS)]);
    if (end !== undefined) throw end;
  }
  throw new Error(`the fleet was not ready in ${START_LIMIT_MS} ms`);
}

async function measureBatch(session: Session, intake: Intake, manifestUrl: string, rows: number): Promise<boolean> {
  const startedMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - startedMs) / 100) / 10;
  const id = await submit(intake, manifestUrl);
  let expanded: number | null = null;
  let status = "";
  while (!["Completed", "Failed"].includes(status)) {
    await sleep(LOOK_AGAIN_MS);
    const view = await readBatch(session, id);
    if (view.kind !== "found") continue;
    status = view.value.status.status;
    if (view.value.expansion?.created === rows) expanded ??= seconds();
  }
  print("fleet", {
    rows,
    status,
    expandedSeconds: expanded,
    seconds: seconds(),
    rowsPerSecond: Math.round(rows / seconds()),
  });
  return status === "Completed";
}

async function submit({ url, token }: Intake, manifestUrl: string): Promise<BatchId> {
  const answer = await fetch(`${url}/v1/batches`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    },
    body: JSON.stringify({
      profile: "sluice_demo_content",
      submitter: "bench",
      payload_url: manifestUrl,
      type: "single-file-batch-manifest",
    }),
  });
  const text = await answer.text();
  const id = parseBatchId(/\bbid\d{10}\b/.exec(text)?.[0] ?? "");
  if (id === null) throw new Error(`not accepted: ${answer.status} ${text}`);
  return id;
}

/** The workers themselves say who they are. */
async function printCosts(session: Session): Promise<boolean> {
  let modest = true;
  for (const stage of STAGES) {
    const workers = await session.children(paths.stageWorkers(stage));
    for (const worker of workers.ok ? workers.value.names : []) {
      const node = await session.get(paths.worker(stage, worker));
      const record = node.ok ? records.worker.decode(node.value.data) : null;
      if (record?.ok !== true) continue;
      const peak = await peakMb(record.value.pid);
      modest &&= peak < LIMIT_MB;
      print("process", { worker, peakMb: peak, limitMb: LIMIT_MB, cpuSeconds: await cpuSeconds(record.value.pid) });
    }
  }
  return modest;
}
