/** Compose under either of its names. */
import { findTool, type Log, runCommand } from "@sluice/local-parts";

export interface ComposeCommand {
  readonly command: string;
  /** Before every other argument. */
  readonly first: readonly string[];
}

export async function findCompose(log: Log): Promise<ComposeCommand | { readonly skip: string }> {
  if ((await runCommand("docker", ["compose", "version"])).ok) return { command: "docker", first: ["compose"] };
  const old = await findTool("docker-compose", { part: "dockerCompose", log });
  return "skip" in old ? old : { command: old.path, first: [] };
}
