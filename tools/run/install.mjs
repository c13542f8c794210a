/** Installs the packages when they are missing or the lock file has changed. Needs Node and npm, nothing else. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run, say } from "./steps.mjs";

const PNPM = "pnpm@10.34.9";
const OLDEST_NODE = [20, 19];
const stampFile = join(ROOT, "node_modules", ".sluice-installed");

/** What is installed is decided by these, and by the platform for packages with binaries. */
function wanted() {
  const hash = createHash("sha256").update(`${process.platform}-${process.arch}`);
  for (const name of ["pnpm-lock.yaml", "pnpm-workspace.yaml"]) hash.update(readFileSync(join(ROOT, name)));
  return hash.digest("hex");
}

function refuseOldNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  say(`Sluice needs Node ${OLDEST_NODE.join(".")} or newer; this is ${process.versions.node}.`);
  process.exit(1);
}

export async function install() {
  refuseOldNode();
  const stamp = wanted();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  say(`installing packages with ${PNPM}`);
  const begun = performance.now();
  // Without a terminal pnpm refuses to replace a node_modules made by another version; ours holds nothing to keep.
  const args = ["--yes", PNPM, "install", "--frozen-lockfile", "--config.confirmModulesPurge=false"];
  const { code, output } = await run(process.platform === "win32" ? "npx.cmd" : "npx", args);
  if (code !== 0) {
    say(`The packages could not be installed:\n${output}`);
    process.exit(code);
  }
  writeFileSync(stampFile, stamp);
  say(`ok      install (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
}
