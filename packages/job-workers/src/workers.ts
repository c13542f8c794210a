/** The registry over one session. */
import type { Op, Session } from "@sluice/zookeeper";
import { decodeEntry, encodeEntry, type WorkerEntry } from "./entry.ts";
import { harvest, type Harvested, type HarvestPorts } from "./harvest.ts";
import { type ListedWorker, listWorkers } from "./list.ts";
import { isWorkerName, paths } from "./paths.ts";
import { Registration } from "./registration.ts";
import { prepare, writeOnce } from "./write.ts";

export type WorkerFacts = Pick<WorkerEntry, "Name" | "InstanceId" | "PrivateIp" | "PublicIp" | "sysid" | "System">;

export type Registering =
  | { readonly ok: true; readonly registration: Registration }
  /**
   * - name-taken: a worker of this name lives; wait for its session to end, or take another name.
   * - harvested: one of this name was declared dead and its jobs are being given back; ours would go with them. Try again.
   */
  | {
      readonly ok: false;
      readonly why: "name-taken" | "harvested" | "bad-name" | "no-answer";
      readonly detail: string;
    };

export interface Workers {
  /** Null: no answer. */
  list(): Promise<readonly ListedWorker[] | null>;
  register(facts: WorkerFacts): Promise<Registering>;
  harvest(ports: Omit<HarvestPorts, "session">): Promise<Harvested | null>;
}

export type OpenedWorkers =
  { readonly ok: true; readonly workers: Workers } | { readonly ok: false; readonly why: string };

export async function openWorkers(session: Session, nowMs: () => number): Promise<OpenedWorkers> {
  const problem = await prepare(session, paths.frame);
  if (problem !== null) return { ok: false, why: problem };
  return {
    ok: true,
    workers: {
      list: () => listWorkers(session),
      register: (facts) => register(session, nowMs, facts),
      harvest: (ports) => harvest({ ...ports, session }),
    },
  };
}

const IDLE = { Cpu: 0, Mem: 0 } as const;

async function register(session: Session, nowMs: () => number, facts: WorkerFacts): Promise<Registering> {
  if (!isWorkerName(facts.Name)) return { ok: false, why: "bad-name", detail: facts.Name };
  const Heartbeat = new Date(nowMs()).toISOString();
  const entry: WorkerEntry = { ...facts, Job: "", Heartbeat, Stats: IDLE, Status: "ALIVE" };
  const path = paths.worker(facts.Name);
  const data = encodeEntry(entry);
  const before = await session.get(path);
  if (!before.ok && before.code !== "NO_NODE") return { ok: false, why: "no-answer", detail: before.detail };
  const dead = before.ok ? decodeEntry(before.value.data) : null;
  if (dead?.Status === "DEAD" && dead.released !== true) return { ok: false, why: "harvested", detail: facts.Name };
  const version = before.ok ? before.value.stat.version + 1 : 0;
  const own: Op = before.ok
    ? { op: "set", path, data, version: before.value.stat.version }
    : { op: "create", path, data };
  // The child last: it cannot be made while another session has it, so two of one name never live at once.
  const child: Op = { op: "create", path: paths.alive(facts.Name), data: Buffer.alloc(0), ephemeral: true };
  const written = await writeOnce(session, [own, child], path, data);
  if (written === "refused") return { ok: false, why: "name-taken", detail: facts.Name };
  if (written === "lost") return { ok: false, why: "no-answer", detail: "the session gave no answer" };
  return { ok: true, registration: new Registration({ session, nowMs }, entry, version) };
}
