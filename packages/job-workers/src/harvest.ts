/** Looks after the others: whoever died is declared dead, its jobs go back, its entry goes later. Any worker may, several at once. */
import type { Op, Session } from "@sluice/zookeeper";
import { type DeadHookPorts, hookOp, tellOfTheDead, type Told } from "./dead-hooks.ts";
import { encodeEntry, type WorkerEntry } from "./entry.ts";
import { judge, type Patience } from "./judge.ts";
import { listWorkers, type ListedWorker } from "./list.ts";
import { paths } from "./paths.ts";
import { writeOnce } from "./write.ts";

export interface HarvestPorts {
  readonly session: Session;
  readonly patience: Patience;
  /** Gives the worker's unfinished jobs back to the queue; false: could not, try again later. May be asked twice. */
  readonly releaseWorker: (name: string) => Promise<boolean>;
  /** Shuts the instance of a dead one down or restarts it; tried until it is heard. Null: nobody is told. */
  readonly hook: Pick<DeadHookPorts, "tell" | "pauseMs"> | null;
}

export interface Harvested {
  readonly declared: readonly string[];
  readonly released: readonly string[];
  readonly purged: readonly string[];
  /** Who was told of the dead, and who was not. */
  readonly hooks: Told;
}

/** Null: the registry could not be read. */
export async function harvest(ports: HarvestPorts): Promise<Harvested | null> {
  const workers = await listWorkers(ports.session);
  if (workers === null) return null;
  const did = { declared: [] as string[], released: [] as string[], purged: [] as string[] };
  const { session, patience, hook } = ports;
  for (const worker of workers) {
    const { Name } = worker.entry;
    const verdict = judge(worker, patience, session.serverNowMs());
    if (verdict === "declare") {
      const declared = await declareDead(ports, worker);
      if (declared === null) continue;
      did.declared.push(Name);
      if (await release(ports, declared)) did.released.push(Name);
    } else if (verdict === "release") {
      if (await release(ports, worker)) did.released.push(Name);
    } else if (verdict === "purge") {
      if (await purge(ports, worker)) did.purged.push(Name);
    }
  }
  const told = hook === null ? null : await tellOfTheDead({ session, keepMs: patience.keepDeadMs, ...hook });
  return { ...did, hooks: told ?? { told: [], failed: [], givenUp: [] } };
}

type Held = Pick<ListedWorker, "entry" | "version">;

/** Fenced by the entry's version: of two who see the same death one is refused, and a heartbeat that came in between refuses both. */
async function declareDead({ session, hook }: HarvestPorts, found: ListedWorker): Promise<Held | null> {
  const { entry, version, hasSession } = found;
  const dead: WorkerEntry = { ...entry, Status: "DEAD", Job: "" };
  const ops: Op[] = [{ op: "set", path: paths.worker(entry.Name), data: encodeEntry(dead), version }];
  // One that hangs and keeps its session is taken out too.
  if (hasSession) ops.push({ op: "delete", path: paths.alive(entry.Name), version: 0 });
  if (hook !== null) ops.push(hookOp(dead, session.serverNowMs()));
  const answer = await session.multi(ops);
  // A lost answer: if it was applied, whoever looks next finds a dead one whose jobs are not released, and of whom nobody is told.
  return answer.ok ? { entry: dead, version: version + 1 } : null;
}

async function release(ports: HarvestPorts, { entry, version }: Held): Promise<boolean> {
  if (!(await ports.releaseWorker(entry.Name))) return false;
  const path = paths.worker(entry.Name);
  const data = encodeEntry({ ...entry, released: true });
  return (await writeOnce(ports.session, [{ op: "set", path, data, version }], path, data)) === "done";
}

async function purge({ session }: HarvestPorts, { entry, version }: Held): Promise<boolean> {
  const gone = await session.multi([{ op: "delete", path: paths.worker(entry.Name), version }]);
  return gone.ok;
}
