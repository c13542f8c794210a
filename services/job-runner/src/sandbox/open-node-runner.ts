/** Handlers that are code, put together from walls, contexts and the way out: Node's own, or scripts of an interpreter. */
import type { Egress } from "@sluice/safe-io";
import type { Handler } from "@sluice/wire";
import { join } from "node:path";
import type { Runner } from "../run/types.ts";
import { type Broken, Context } from "./context.ts";
import { interpreterFor, type Interpreters } from "./interpreters.ts";
import { nodeRunner } from "./node-runner.ts";
import { ContextPool } from "./pool.ts";
import { openWayOut } from "./way-out.ts";
import type { Standing } from "./walls.ts";

export interface NodeSettings {
  readonly timeoutMs: number;
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly idleMs: number;
  readonly jobsPerContext: number;
}

export interface NodeRunnerParts {
  readonly standing: Standing;
  /** What runs scripts in other languages than Node's. */
  readonly interpreters: Interpreters;
  readonly egress: Pick<Egress, "get" | "head" | "post">;
  /** Where tenants have files that their handlers may declare, a folder for each; null: nowhere. */
  readonly filesDir: string | null;
  readonly settings: NodeSettings;
  /** Why nobody's code is run here; null: it is. */
  readonly refused: string | null;
  readonly onBroken: (why: Broken) => void;
  readonly onCount: (contexts: number) => void;
}

const NODE = "node";
const BATCH = 5;
const START_MS = 30_000;
const IDLE_MAX = 8;
export const RESULT_BYTES = 16 * 1024 * 1024;
const OUTPUT = { bytes: 4 * 1024 * 1024, lines: 10_000, lineBytes: 1024 * 1024 };

export function openNodeRunner(parts: NodeRunnerParts): Runner {
  const { settings, refused, onBroken } = parts;
  const pool = new ContextPool({
    open: (handler) => openContext(handler, parts),
    jobsPerContext: settings.jobsPerContext,
    idleMs: settings.idleMs,
    idleMax: IDLE_MAX,
    later: (ms, wake) => {
      const timer = setTimeout(wake, ms);
      return () => clearTimeout(timer);
    },
    onCount: parts.onCount,
  });
  const { timeoutMs, cpuMs } = settings;
  return nodeRunner({
    pool,
    batch: BATCH,
    timeoutMs,
    cpuMs,
    startMs: START_MS,
    resultBytes: RESULT_BYTES,
    refused: (lang) => refused ?? whyNotHere(lang, parts),
    onBroken,
  });
}

/** A script may start programs, which the language's own rules do not hold: it needs every wall, whatever the settings say. */
function whyNotHere(lang: string, { standing, interpreters }: NodeRunnerParts): string | null {
  if (lang === NODE) return null;
  const found = interpreters.get(lang);
  if (found === undefined) return `this runner has no interpreter ${lang}: INTERPRETERS names those that it has`;
  if (typeof found === "string") return `this runner has no interpreter ${lang}: ${found}`;
  return standing.walls.namespaces ? null : `this runner has no walls for scripts: ${standing.missing ?? ""}`;
}

function openContext(
  handler: Handler,
  { standing, interpreters, egress, filesDir, settings }: NodeRunnerParts,
): Context {
  const interpreter = interpreterFor(handler.lang, interpreters);
  // Scripts have no way to ask: none can be declared for them.
  const allowed = interpreter === null ? (handler.allow?.network ?? []) : [];
  const over = new AbortController();
  const context = new Context({
    box: standing.box,
    memoryMb: Math.min(handler.memoryMb ?? settings.memoryMb, settings.memoryMb),
    files: filesOf(handler, filesDir),
    openWayOut: allowed.length === 0 ? null : (line) => openWayOut(line, { egress, allowed, signal: over.signal }),
    output: OUTPUT,
    resultBytes: RESULT_BYTES,
    startMs: START_MS,
    interpreter,
  });
  context.gone.then(() => over.abort()).catch(() => undefined);
  return context;
}

/** Names inside the tenant's own folder; whatever leads out of it, or is not plain, is as if it had not been declared. */
export function filesOf(
  { tenant, allow }: Pick<Handler, "tenant" | "allow">,
  filesDir: string | null,
): readonly { readonly source: string; readonly place: string }[] {
  if (filesDir === null) return [];
  const plain = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;
  return (allow?.files ?? [])
    .filter((name) => plain.test(name))
    .map((name) => ({ source: join(filesDir, tenant, name), place: `/files/${name}` }));
}
