import { findDockerEngine, findTool, startDockerEngine } from "@sluice/local-parts";
import { type Docker, dockerAt } from "./docker.ts";

/** Runs `work` on the engine that is there, or on one of its own that is gone afterwards. */
export async function withEngine<T>(
  own: boolean,
  say: (line: string) => void,
  work: (docker: Docker) => Promise<T>,
): Promise<T> {
  const command = await findTool("docker", { part: "docker", log: say });
  if ("skip" in command) throw new Error(command.skip);
  const engine = own ? await startDockerEngine(say) : await findDockerEngine();
  if ("skip" in engine) throw new Error(own ? engine.skip : `${engine.skip}; --own-engine starts one for this run`);
  try {
    return await work(dockerAt(engine.host));
  } finally {
    await engine.stop();
  }
}
