/** The frame of the queue's tree: made by whoever comes first. */
import { createMissing, type Session } from "@sluice/zookeeper";
import { BLOCK_IDS, blockOfShard } from "../ids.ts";
import { paths } from "../paths.ts";
import { records, type Layout } from "../records.ts";
import { SHARDS } from "../tenants.ts";

export const EMPTY = Buffer.alloc(0);

export type Prepared =
  { readonly ok: true; readonly layout: Layout } | { readonly ok: false; readonly problem: string };

/** Tenants with a shard by hand count only when the tree is new: a tenant's jobs do not move. */
export async function prepareQueue(
  session: Session,
  tenants: Layout["tenants"] = {},
  ensembles?: Layout["ensembles"],
): Promise<Prepared> {
  const layout: Layout = { shards: SHARDS, block: BLOCK_IDS, tenants, ...(ensembles && { ensembles }) };
  const fault = await createMissing(session, [
    ...[paths.fleet, paths.root, paths.apis, paths.terms, paths.shards].map((path) => node(path)),
    ...Array.from({ length: SHARDS }, (_, shard) => shardFrame(shard)).flat(),
    // The last one: where it stands, all of it stands.
    node(paths.layout, records.layout.encode(layout)),
  ]);
  return fault === null ? readLayout(session) : { ok: false, problem: `${fault.code}: ${fault.detail}` };
}

const node = (path: string, data: Buffer = EMPTY) => ({ op: "create", path, data }) as const;

function shardFrame(shard: number): readonly ReturnType<typeof node>[] {
  const ids = records.ids.encode({ next: blockOfShard(shard, 0), term: 0 });
  return [
    node(paths.shard(shard)),
    node(paths.ids(shard), ids),
    ...[paths.counters(shard), paths.jobs(shard), paths.groups(shard), paths.done(shard)].map((path) => node(path)),
  ];
}

async function readLayout(session: Session): Promise<Prepared> {
  const answer = await session.get(paths.layout);
  if (!answer.ok) return { ok: false, problem: `${answer.code}: ${answer.detail}` };
  const layout = records.layout.decode(answer.value.data);
  if (!layout.ok) return layout;
  const { shards, block } = layout.value;
  if (shards !== SHARDS || block !== BLOCK_IDS)
    return { ok: false, problem: `a layout of ${shards} shards of ${block} ids` };
  return { ok: true, layout: layout.value };
}
