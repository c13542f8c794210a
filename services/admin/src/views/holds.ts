/** Holds, pauses and drains with who, since when and why. */
import { type Hold, paths, records } from "@sluice/queue-core";
import { type HoldView, rfc3339 } from "@sluice/wire";
import type { ReadAnswer, Session } from "@sluice/zookeeper";

export interface HoldViews {
  readonly queue: HoldView | null;
  readonly collections: ReadonlyMap<string, HoldView>;
  readonly stages: ReadonlyMap<string, HoldView>;
  /** By worker. */
  readonly drains: ReadonlyMap<string, HoldView>;
}

const names = (answer: ReadAnswer | undefined): readonly string[] => (answer?.kind === "children" ? answer.names : []);

export const holdView = ({ by, since, why, until }: Hold): HoldView => ({
  by,
  since: rfc3339(since),
  why,
  until: rfc3339(until ?? null),
});

/** Others put empty nodes up, too: such a hold holds all the same. */
const UNSAID: HoldView = { by: "", since: null, why: "", until: null };

/** null = no answer. Two round trips, however many there are. */
export async function readHoldViews(session: Session): Promise<HoldViews | null> {
  const directories = [paths.collectionLocks, paths.queueLocks, paths.pausedStages, paths.drains];
  const listed = await session.readMany(directories.map((children) => ({ children })));
  if (!listed.ok) return null;
  const nodes = directories.flatMap((directory, i) =>
    names(listed.value[i]).map((name) => ({ directory, name, path: `${directory}/${name}` })),
  );
  const read = nodes.length === 0 ? null : await session.readMany(nodes.map(({ path }) => ({ get: path })));
  if (read?.ok === false) return null;
  const viewed = nodes.flatMap((node, i) => {
    const answer = read?.value[i];
    if (answer?.kind !== "node") return [];
    const hold = records.hold.decode(answer.node.data);
    return [{ ...node, view: hold.ok ? holdView(hold.value) : UNSAID }];
  });
  const inside = (directory: string): ReadonlyMap<string, HoldView> =>
    new Map(viewed.filter((node) => node.directory === directory).map(({ name, view }) => [name, view]));
  return {
    queue: viewed.find(({ path }) => path === paths.queuePause)?.view ?? null,
    collections: inside(paths.collectionLocks),
    stages: inside(paths.pausedStages),
    drains: inside(paths.drains),
  };
}
