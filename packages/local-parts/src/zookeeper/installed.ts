import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { missingFiles } from "../debian/install.ts";
import { PARTS } from "../debian/parts.ts";
import { startJavaServer } from "./java-server.ts";
import { failed, NOT_SET, type Attempt, type Request, type Way, type ZooKeeperSource } from "./types.ts";

/** An unpacked Apache distribution. */
export const fromHome: Way = {
  name: "ZOOKEEPER_HOME",
  async attempt(request, signal) {
    const home = request.env["ZOOKEEPER_HOME"];
    if (home === undefined || home === "") return failed(NOT_SET);
    const library = join(home, "lib");
    if (!hasZooKeeperJar(library)) return failed(`no zookeeper*.jar in ${library}`);
    const classPath = [join(home, "conf"), join(library, "*")].join(delimiter);
    return startJavaServer({ classPath, source: "installed" }, request, signal);
  },
};

function hasZooKeeperJar(directory: string): boolean {
  if (!existsSync(directory)) return false;
  return readdirSync(directory).some((name) => /^zookeeper-\d.*\.jar$/.test(name));
}

export const fromDebian: Way = {
  name: "Debian's installed package",
  attempt: (request, signal) => startDebian("installed", request, signal),
};

export async function startDebian(source: ZooKeeperSource, request: Request, signal: AbortSignal): Promise<Attempt> {
  const missing = missingFiles("zookeeper");
  if (missing.length > 0) return failed(`no ${missing.join(", ")}`);
  const classPath = PARTS.zookeeper.files.join(delimiter);
  return startJavaServer({ classPath, source }, request, signal);
}
