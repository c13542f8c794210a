import type { Session } from "@sluice/zookeeper";

export interface TreeOptions {
  /** Only these paths and what is below them. Default: everything but ZooKeeper's own nodes. */
  readonly under?: readonly string[];
  /** Leave out paths that match. */
  readonly except?: RegExp;
  /** Batch and job ids become bid0, bid1, jid0, …, UUIDs uuid0, … in the order of the paths. */
  readonly ids?: "normalised";
}

/** Our client's session, or a bare one. */
export type TreeSource = Pick<Session, "get" | "children">;

/**
 * The tree as one object for `toEqual`: it finds what was forgotten. Listed are nodes with data and nodes without
 * children; JSON is parsed, other data are text, no data are null; the key of an ephemeral node ends in " (ephemeral)".
 */
export async function tree(source: TreeSource, options: TreeOptions = {}): Promise<Record<string, unknown>> {
  const entries: [string, unknown][] = [];
  const visit = async (path: string): Promise<void> => {
    if (path === "/zookeeper" || options.except?.test(path) === true) return;
    const [node, children] = await Promise.all([source.get(path), source.children(path)]);
    // Gone since its parent was listed.
    if (!node.ok || !children.ok) return;
    const { data, stat } = node.value;
    const mark = stat.ephemeralOwner === 0n ? "" : " (ephemeral)";
    const names = children.value.names;
    if (data.length > 0 || (names.length === 0 && path !== "/")) entries.push([`${path}${mark}`, valueOf(data)]);
    await Promise.all(names.map((name) => visit(path === "/" ? `/${name}` : `${path}/${name}`)));
  };
  await Promise.all((options.under ?? ["/"]).map(visit));
  const sorted = Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  return options.ids === "normalised" ? normalise(sorted) : sorted;
}

/** Only objects and arrays count as JSON: a priority of "05" is text. */
function valueOf(data: Buffer): unknown {
  const text = data.toString("utf8");
  if (text === "") return null;
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const IDS = /\b(?:(bid|jid)\d{10}\b|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/g;

function normalise(entries: Record<string, unknown>): Record<string, unknown> {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const text = JSON.stringify(entries).replace(IDS, (id, prefix: string | undefined) => {
    const kind = prefix ?? "uuid";
    const known = names.get(id);
    if (known !== undefined) return known;
    const count = counts.get(kind) ?? 0;
    counts.set(kind, count + 1);
    names.set(id, `${kind}${count}`);
    return `${kind}${count}`;
  });
  return JSON.parse(text) as Record<string, unknown>;
}
