/**
 * Before the first test file: what tests start as processes is built, once and by one, because a build beside a running
 * test replaces the files that its processes are loading. Then one real ZooKeeper for the whole run; each test file takes
 * a part of its tree (testkit's `testZooKeeper`).
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, ROOT, say } from "./steps.mjs";

export default async function setup() {
  if (process.env.SLUICE_BUILT !== "1" && (await build()) !== 0) throw new Error("the build failed: see above");
  const { startZooKeeper } = await import(pathToFileURL(join(ROOT, "packages/local-parts/dist/index.js")).href);
  const server = await startZooKeeper({ ephemeralData: true, log: say });
  globalThis.sluiceTestZooKeeper = server;
  process.env.SLUICE_TEST_ZK = server.connect;
  if (server.logDir === undefined) delete process.env.SLUICE_TEST_ZK_LOG;
  else process.env.SLUICE_TEST_ZK_LOG = server.logDir;
}
