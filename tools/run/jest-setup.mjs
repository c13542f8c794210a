/** One real ZooKeeper for the whole run; each test file takes a part of its tree (testkit's `testZooKeeper`). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, ROOT, say } from "./steps.mjs";

const FINDER = join(ROOT, "packages/local-parts/dist/index.js");

export default async function setup() {
  if (!existsSync(FINDER) && (await build("packages/local-parts/tsconfig.build.json")) !== 0) {
    throw new Error("packages/local-parts does not build");
  }
  const { startZooKeeper } = await import(pathToFileURL(FINDER).href);
  const server = await startZooKeeper({ ephemeralData: true, log: say });
  globalThis.sluiceTestZooKeeper = server;
  process.env.SLUICE_TEST_ZK = server.connect;
  if (server.logDir === undefined) delete process.env.SLUICE_TEST_ZK_LOG;
  else process.env.SLUICE_TEST_ZK_LOG = server.logDir;
}
