/** The command `docker`, pointed at one engine. */
import { lastLine, runCommand } from "@sluice/local-parts";

export interface Docker {
  readonly env: NodeJS.ProcessEnv;
  /** What it printed; throws with its last words when it fails. */
  run(...args: readonly string[]): Promise<string>;
  /** The same with more in its environment: what `--env NAME` passes on without showing it to whoever lists processes. */
  with(more: Readonly<Record<string, string>>): Docker;
  /** Whether it succeeded. */
  can(...args: readonly string[]): Promise<boolean>;
}

export function dockerAt(host: string, more: Readonly<Record<string, string>> = {}): Docker {
  // The classic builder is always there; BuildKit is a part that may be missing, and nothing here needs it.
  const builder = process.env["DOCKER_BUILDKIT"] ?? "0";
  const env = { ...process.env, DOCKER_HOST: host, DOCKER_BUILDKIT: builder, ...more };
  return {
    env,
    with: (added) => dockerAt(host, { ...more, ...added }),
    can: async (...args) => (await runCommand("docker", args, { env })).ok,
    run: async (...args) => {
      const { ok, output } = await runCommand("docker", args, { env });
      if (!ok) throw new Error(`docker ${args[0] ?? ""}: ${output.slice(-TAIL) || lastLine(output)}`);
      return output;
    },
  };
}

const TAIL = 3_000;
