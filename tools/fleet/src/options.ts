import { parseArgs } from "node:util";
import { isService, SERVICES, type ServiceName } from "./services.ts";

export interface Options {
  /** Stop after the sample batch has reported. */
  readonly once: boolean;
  readonly sample: boolean;
  readonly dataDir: string;
  readonly scale: ReadonlyMap<ServiceName, number>;
}

/** Options null: only the usage is wanted. */
export type ParsedOptions =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: true; readonly options: null }
  | { readonly ok: false; readonly problem: string };

const INSTANCES_MAX = 20;

export const USAGE = [
  "npm start -- [--once] [--no-sample] [--data DIR] [--scale SERVICE=N]...",
  "",
  "  --once       stop after the sample batch has reported; exit code 0 if it is Completed",
  "  --no-sample  start the fleet and submit nothing",
  "  --data DIR   where everything is kept (default ./data)",
  `  --scale S=N  N processes of service S: ${SERVICES.map(({ name }) => name).join(", ")}`,
  "  --help       this text",
].join("\n");

export function parseOptions(args: readonly string[]): ParsedOptions {
  const parsed = read(args);
  if (typeof parsed === "string") return { ok: false, problem: parsed };
  if (parsed.help === true) return { ok: true, options: null };
  const scale = new Map<ServiceName, number>();
  for (const raw of parsed.scale ?? []) {
    const [name = "", count = ""] = raw.split("=");
    if (!isService(name))
      return { ok: false, problem: `--scale: no service ${name}; there are ${SERVICES.map((s) => s.name).join(", ")}` };
    const instances = Number(count);
    if (!Number.isInteger(instances) || instances < 0 || instances > INSTANCES_MAX) {
      return {
        ok: false,
        problem: `--scale ${name}: a whole number from 0 to ${INSTANCES_MAX} is needed, not ${JSON.stringify(count)}`,
      };
    }
    scale.set(name, instances);
  }
  const once = parsed.once === true;
  const sample = parsed["no-sample"] !== true;
  if (once && !sample)
    return { ok: false, problem: "--once waits for the sample batch: it cannot go with --no-sample" };
  return { ok: true, options: { once, sample, dataDir: parsed.data ?? "data", scale } };
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", short: "h" },
        once: { type: "boolean" },
        "no-sample": { type: "boolean" },
        data: { type: "string" },
        scale: { type: "string", multiple: true },
      },
    }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
