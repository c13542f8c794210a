/**
 * What is still to be told of dead workers, so that their instances are shut down. It stands in a node of its own, made with
 * the declaration: no crash in between loses it, and a worker that comes again under its name does not take its place. Each
 * try is claimed by the node's version, so that of many who come by one tells, and it is over when it was heard.
 */
import type { Op, Session } from "@sluice/zookeeper";
import { z } from "zod";
import { type WorkerEntry, WorkerEntrySchema } from "./entry.ts";
import { paths } from "./paths.ts";

const DeadHook = z.strictObject({ v: z.literal(1), entry: WorkerEntrySchema, tries: z.int().min(0) });

export interface DeadHookPorts {
  readonly session: Session;
  /** True: it was heard. May be called again for the same death when an answer was lost. */
  readonly tell: (entry: WorkerEntry, id: string) => Promise<boolean>;
  /** How long it is tried. */
  readonly keepMs: number;
  /** The first pause; each further one is twice as long, up to sixteen times. */
  readonly pauseMs: number;
}

export interface Told {
  readonly told: readonly string[];
  /** Tried again later. */
  readonly failed: readonly string[];
  /** Tried for too long. */
  readonly givenUp: readonly string[];
}

const LONGEST_PAUSE = 4;
const encode = (hook: z.infer<typeof DeadHook>): Buffer => Buffer.from(JSON.stringify(hook));

/** Goes with the declaration. */
export const hookOp = (entry: WorkerEntry, nowMs: number): Op => ({
  op: "create",
  path: paths.hook(`${entry.Name}.${Math.round(nowMs)}`),
  data: encode({ v: 1, entry, tries: 0 }),
});

/** Null: no answer. */
export async function tellOfTheDead(ports: DeadHookPorts): Promise<Told | null> {
  const listed = await ports.session.children(paths.hooks);
  if (!listed.ok) return listed.code === "NO_NODE" ? { told: [], failed: [], givenUp: [] } : null;
  const did = { told: [] as string[], failed: [] as string[], givenUp: [] as string[] };
  for (const id of [...listed.value.names].sort()) {
    const what = await tellOne(ports, id);
    if (what !== null) did[what].push(id);
  }
  return did;
}

/** Null: it is not our turn, or somebody else was quicker. */
async function tellOne({ session, tell, keepMs, pauseMs }: DeadHookPorts, id: string): Promise<keyof Told | null> {
  const path = paths.hook(id);
  const node = await session.get(path);
  if (!node.ok) return null;
  const { data, stat } = node.value;
  const read = parsed(data);
  const remove = async (version: number): Promise<boolean> =>
    (await session.multi([{ op: "delete", path, version }])).ok;
  const now = session.serverNowMs();
  if (read === null || now - stat.ctime > keepMs) return (await remove(stat.version)) ? "givenUp" : null;
  const pause = read.tries === 0 ? 0 : pauseMs * 2 ** Math.min(read.tries - 1, LONGEST_PAUSE);
  if (now - stat.mtime < pause) return null;
  const claim: Op = { op: "set", path, data: encode({ ...read, tries: read.tries + 1 }), version: stat.version };
  if (!(await session.multi([claim])).ok) return null;
  if (!(await tell(read.entry, id))) return "failed";
  await remove(stat.version + 1);
  return "told";
}

function parsed(data: Buffer): z.infer<typeof DeadHook> | null {
  try {
    return DeadHook.parse(JSON.parse(data.toString("utf8")));
  } catch {
    return null;
  }
}
