/**
 * A submission key outlives its batch: at clean-up it moves from /batch-uuids to /fleet/keys/DAY, so that a client or a
 * journal that repeats itself weeks later still gets its first answer instead of a second batch.
 */
import type { Op } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import type { BatchUuid } from "./ids.ts";
import type { Guard } from "./job.ts";
import { createOp, deleteOp, setOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { EMPTY, type KeyRecord, records } from "./records.ts";

/** Clients and journals repeat themselves for no longer than this. */
export const KEYS_KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const KEYS_PER_DELETE = 100;

/** A day as the name of its directory. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export type KeptKey =
  | { readonly kind: "found"; readonly record: KeyRecord }
  /** `guard` keeps it so: no key has been put away since we looked. */
  | { readonly kind: "none"; readonly guard: Guard }
  | { readonly kind: "silence" };

export async function findKeptKey(ctx: Pick<QueueContext, "session">, uuid: BatchUuid): Promise<KeptKey> {
  const root = await ctx.session.get(paths.keys);
  const days = await ctx.session.children(paths.keys);
  if (!root.ok || !days.ok) return { kind: "silence" };
  const guard: Guard = [{ op: "check", path: paths.keys, version: root.value.stat.version }];
  if (days.value.names.length === 0) return { kind: "none", guard };
  const answers = await ctx.session.readMany(days.value.names.map((day) => ({ get: paths.key(day, uuid) })));
  if (!answers.ok) return { kind: "silence" };
  for (const answer of answers.value) {
    const record = answer.kind === "node" ? records.key.decode(answer.node.data) : null;
    if (record?.ok === true) return { kind: "found", record: record.value };
  }
  return { kind: "none", guard };
}

/** Ops that put a key away, with the touch of /fleet/keys that makes a creation under way look again; null = no answer. */
export async function keepKeyOps(ctx: QueueContext, uuid: string, record: KeyRecord): Promise<readonly Op[] | null> {
  const day = paths.keysOfDay(dayOf(ctx.session.serverNowMs()));
  const answers = await ctx.session.readMany([{ get: paths.keys }, { get: day }]);
  if (!answers.ok) return null;
  const [root, there] = answers.value;
  if (root?.kind !== "node") return null;
  return [
    setOp(paths.keys, EMPTY, root.node.stat.version),
    ...(there?.kind === "node" ? [] : [createOp(day)]),
    createOp(`${day}/${uuid}`, records.key.encode(record)),
  ];
}

/** Forgets the keys of days that are long past. Answers how many. */
export async function expireKeys(ctx: QueueContext): Promise<number> {
  const limit = dayOf(ctx.session.serverNowMs() - KEYS_KEPT_DAYS * DAY_MS);
  const days = await ctx.session.children(paths.keys);
  let expired = 0;
  for (const day of days.ok ? days.value.names.filter((name) => name < limit) : []) {
    const names = await ctx.session.children(paths.keysOfDay(day));
    const keys = names.ok ? names.value.names.map((name) => `${paths.keysOfDay(day)}/${name}`) : [];
    for (let i = 0; i < keys.length; i += KEYS_PER_DELETE) {
      const chunk = keys.slice(i, i + KEYS_PER_DELETE);
      const gone = await ctx.committer.submit({ rank: "commit", ops: chunk.map((path) => deleteOp(path)) });
      if (!gone.ok) return expired;
      expired += chunk.length;
    }
    await ctx.committer.submit({ rank: "commit", ops: [deleteOp(paths.keysOfDay(day))] });
  }
  return expired;
}
