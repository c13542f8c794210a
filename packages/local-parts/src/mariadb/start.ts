import { type Log, silent } from "../log.ts";
import { startInDocker } from "./docker.ts";
import { startAsProcess } from "./process.ts";
import type { RunningMariaDb } from "./types.ts";

/** An installed one, a container, or Debian's package when root; the first that can be had, else the reasons. */
export async function startMariaDb(log: Log = silent): Promise<RunningMariaDb | { readonly skip: string }> {
  const installed = await startAsProcess({ log, apt: false });
  if (!("skip" in installed)) return installed;
  const container = await startInDocker();
  if (!("skip" in container)) return container;
  log(`no MariaDB by Docker: ${container.skip}`);
  return await startAsProcess({ log, apt: true });
}
