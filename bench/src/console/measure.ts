/** `npm run bench -- console`: how long an operator waits for a page over a deep tree, and for one order to many jobs. */
import { startZooKeeper } from "@sluice/local-parts";
import { ADMIN } from "@sluice/wire";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { print } from "../print.ts";
import { cpuSeconds, peakMb } from "../process-costs.ts";
import { openQueue } from "../queue.ts";
import { type AdminProcess, startAdmin } from "./admin-process.ts";
import { COLLECTIONS, growTree } from "./big-tree.ts";
import { type Page, pagesOf } from "./pages.ts";

const HEAP_MB = 2_048;
const ASKED = 20;
/** Below it a page feels immediate. */
const MEDIAN_LIMIT_MS = 300;
const LOOK_AGAIN_MS = 200;
const AUDITED = 50;

/** False: a page was too slow, or not all jobs were resumed. */
export async function measureConsole(jobs: number): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  const zookeeper = await startZooKeeper({ dataDir: join(dir, "zookeeper"), heapMb: HEAP_MB, log: console.error });
  try {
    const ctx = await openQueue(zookeeper.connect);
    const startedMs = performance.now();
    const tree = await growTree(ctx, jobs);
    await ctx.session.close();
    print("tree", { jobs, seconds: secondsSince(startedMs) });
    const admin = await startAdmin(zookeeper.connect, dir, COLLECTIONS[0]);
    try {
      const pages = pagesOf(admin, tree);
      await fillAudit(admin);
      await printFilling(admin);
      const fast = await measurePages(pages);
      await measureFsck(admin);
      const resumed = await measureResume(admin, tree.failed);
      const afterwards = await measurePages(pages.filter(({ name }) => ["overview", "audit"].includes(name)));
      print("admin", { peakMb: await peakMb(admin.pid), cpuSeconds: await cpuSeconds(admin.pid) });
      return fast && resumed && afterwards;
    } finally {
      await admin.stop();
    }
  } finally {
    await zookeeper.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

const secondsSince = (startedMs: number): number => Math.round((performance.now() - startedMs) / 100) / 10;

/** Something to list. */
async function fillAudit({ admin }: AdminProcess): Promise<void> {
  for (let i = 0; i < AUDITED; i++) {
    for (const action of ["hold", "release"] as const) {
      const body = { action, reason: "a measurement" };
      const answer = await admin.call(ADMIN.stageAction, { params: { stage: "estimator" }, body });
      if (!answer.ok) throw new Error(JSON.stringify(answer));
    }
  }
}

/** What never changes of a job is read in the background: pages are asked for when it is known. */
async function printFilling({ admin }: AdminProcess): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const answer = await admin.call(ADMIN.collections, {});
    if (!answer.ok) throw new Error(JSON.stringify(answer));
    if (answer.value.unread === 0) break;
    await sleep(LOOK_AGAIN_MS);
  }
  print("index", { seconds: secondsSince(startedMs) });
}

async function measurePages(pages: readonly Page[]): Promise<boolean> {
  let fast = true;
  for (const { name, ask } of pages) {
    const took: number[] = [];
    for (let i = 0; i < ASKED; i++) {
      const startedMs = performance.now();
      const answer = await ask();
      took.push(performance.now() - startedMs);
      if (!answer.ok) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    }
    took.sort((a, b) => a - b);
    const medianMs = at(took, 0.5);
    fast &&= medianMs < MEDIAN_LIMIT_MS;
    print("page", { name, medianMs, p95Ms: at(took, 0.95), limitMs: MEDIAN_LIMIT_MS });
  }
  return fast;
}

/** The whole tree judged, by a process that serves pages meanwhile: what it takes must not grow with what it finds. */
async function measureFsck({ admin, pid }: AdminProcess): Promise<void> {
  const peakBeforeMb = await peakMb(pid);
  const startedMs = performance.now();
  const answer = await admin.call(ADMIN.fsck, {});
  if (!answer.ok) throw new Error(JSON.stringify(answer));
  const { jobs, batches, findings } = answer.value;
  const seconds = secondsSince(startedMs);
  print("fsck", { jobs, batches, findings: findings.length, seconds, peakBeforeMb, peakMb: await peakMb(pid) });
}

const at = (sorted: readonly number[], quantile: number): number =>
  Math.round((sorted[Math.ceil(sorted.length * quantile) - 1] ?? Number.NaN) * 10) / 10;

async function measureResume({ admin }: AdminProcess, failed: number): Promise<boolean> {
  const body = { action: "resume" as const, reason: "a measurement", filter: { states: ["Failed" as const] } };
  const countedMs = performance.now();
  const preview = await admin.call(ADMIN.bulkPreview, { body });
  if (!preview.ok) throw new Error(JSON.stringify(preview));
  print("dry run", { jobs: preview.value.count, seconds: secondsSince(countedMs) });
  const startedMs = performance.now();
  const begun = await admin.call(ADMIN.bulkAction, { body: { ...body, expected_count: failed } });
  if (!begun.ok) throw new Error(JSON.stringify(begun));
  print("accepted", { seconds: secondsSince(startedMs) });
  let { applied, state } = begun.value;
  let told = 0;
  for await (const event of admin.events(ADMIN.operationEvents, { params: { id: begun.value.id } })) {
    if (!event.ok) throw new Error(JSON.stringify(event));
    told += 1;
    ({ applied, state } = event.value);
  }
  const seconds = secondsSince(startedMs);
  print("bulk resume", { jobs: applied, state, seconds, jobsPerSecond: Math.round(applied / seconds), progress: told });
  return state === "done" && applied === failed;
}
