/** The tree of a new fleet, where the data folder holds nothing of an earlier one. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { initTree, openTree, queueAccess, type QueueContext } from "@sluice/queue-core";
import { connectSession, ensureChroot, makeCommitter, readZooKeeperSettings, systemClock } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";

export type FirstTree =
  | { readonly kind: "found" | "made" }
  /** ZooKeeper holds no fleet, and the data folder holds what belongs to one: nothing was made. */
  | { readonly kind: "kept"; readonly what: readonly string[] }
  /** Services say what is wrong, and wait. */
  | { readonly kind: "problem"; readonly problem: string };

const SESSION_MS = 10_000;

export async function prepareTree(zookeeper: string, dataDir: string): Promise<FirstTree> {
  const settings = readZooKeeperSettings(zookeeper, process.env);
  if (!settings.ok) throw new Error(settings.problems.join("\n"));
  const options = { connect: zookeeper, timeoutMs: SESSION_MS, access: queueAccess(settings.settings) };
  const rootless = await ensureChroot(options);
  if (rootless !== null) throw new Error(rootless);
  const session = await connectSession(options);
  const newId = (): string => randomBytes(9).toString("base64url");
  try {
    return await prepare({ session, committer: makeCommitter(session), clock: systemClock, newId }, dataDir);
  } finally {
    await session.close();
  }
}

async function prepare(queue: QueueContext, dataDir: string): Promise<FirstTree> {
  const there = await openTree(queue);
  if (there.ok) return { kind: "found" };
  const what = await stateIn(dataDir);
  if (there.why === "absent" && what.length > 0) return { kind: "kept", what };
  const made = await initTree(queue);
  return made.ok ? { kind: "made" } : { kind: "problem", problem: made.problem };
}

const FOLDERS = ["queue", "journal", "store", "job-store"];
const FILES = ["inventory.db"];

/** What in the data folder belongs to a fleet. */
async function stateIn(dataDir: string): Promise<readonly string[]> {
  const filled = await Promise.all(FOLDERS.map(async (name) => ((await holdsFile(join(dataDir, name))) ? [name] : [])));
  const files = await Promise.all(
    FILES.map(async (name) => ((await stat(join(dataDir, name)).catch(() => null)) === null ? [] : [name])),
  );
  return [...filled, ...files].flat();
}

async function holdsFile(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    // A folder that cannot be read may hold a fleet's state.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  });
  for (const entry of entries) {
    if (!entry.isDirectory() || (await holdsFile(join(folder, entry.name)))) return true;
  }
  return false;
}
