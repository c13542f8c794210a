/** One node for an operator to look at: data, stat, a page of its children. Bounded, and without secrets. */
import { paths } from "@sluice/queue-core";
import { pathProblem, type Session } from "@sluice/zookeeper";
import { withoutSecrets } from "./secrets.ts";

export interface BrowseOptions {
  /** Names after this one: `next` of the page before. */
  readonly after?: string;
  readonly limit?: number;
}

export interface NodeView {
  readonly path: string;
  readonly data:
    | { readonly kind: "empty" }
    | { readonly kind: "json"; readonly value: unknown }
    | { readonly kind: "text" | "base64"; readonly value: string; readonly cut: boolean };
  readonly size: number;
  /** Zxids and sessions are hexadecimal, as ZooKeeper's own tools print them. */
  readonly stat: {
    readonly version: number;
    readonly cversion: number;
    readonly created: string;
    readonly modified: string;
    readonly czxid: string;
    readonly mzxid: string;
    readonly pzxid: string;
    readonly ephemeralOwner: string | null;
  };
  readonly children: { readonly total: number; readonly names: readonly string[]; readonly next: string | null };
}

export type Browsed =
  | { readonly kind: "found"; readonly node: NodeView }
  | { readonly kind: "none" }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "silence" };

const LIMIT = 100;
const LIMIT_MAX = 1_000;
const SHOWN_BYTES = 64 * 1024;

export async function browse(session: Session, path: string, options: BrowseOptions = {}): Promise<Browsed> {
  const problem = pathProblem(path);
  if (problem !== null) return { kind: "refused", why: problem };
  const answers = await session.readMany([{ get: path }, { children: path }]);
  if (!answers.ok) return { kind: "silence" };
  const [node, children] = answers.value;
  if (node?.kind !== "node") return { kind: "none" };
  const { data, stat } = node.node;
  const hex = (n: bigint): string => `0x${n.toString(16)}`;
  return {
    kind: "found",
    node: {
      path,
      data: path.startsWith(`${paths.tokens}/`) ? shownToken(data) : shown(data),
      size: data.length,
      stat: {
        version: stat.version,
        cversion: stat.cversion,
        created: new Date(stat.ctime).toISOString(),
        modified: new Date(stat.mtime).toISOString(),
        czxid: hex(stat.czxid),
        mzxid: hex(stat.mzxid),
        pzxid: hex(stat.pzxid),
        ephemeralOwner: stat.ephemeralOwner === 0n ? null : hex(stat.ephemeralOwner),
      },
      children: pageOf(children?.kind === "children" ? children.names : [], options),
    },
  };
}

function pageOf(all: readonly string[], { after, limit = LIMIT }: BrowseOptions): NodeView["children"] {
  const sorted = [...all].sort();
  const from = after === undefined ? 0 : sorted.findIndex((name) => name > after);
  const names = from < 0 ? [] : sorted.slice(from, from + Math.min(LIMIT_MAX, Math.max(1, limit)));
  const last = names.at(-1);
  const more = last !== undefined && last !== sorted.at(-1);
  return { total: sorted.length, names, next: more ? last : null };
}

function shown(data: Buffer): NodeView["data"] {
  if (data.length === 0) return { kind: "empty" };
  const text = data.toString("utf8");
  if (!Buffer.from(text).equals(data)) {
    return { kind: "base64", value: data.subarray(0, SHOWN_BYTES).toString("base64"), cut: data.length > SHOWN_BYTES };
  }
  const json = parsed(text);
  if (json !== undefined && data.length <= SHOWN_BYTES) return { kind: "json", value: withoutSecrets(json) };
  const value = String(withoutSecrets(text));
  return { kind: "text", value: value.slice(0, SHOWN_BYTES), cut: value.length > SHOWN_BYTES };
}

/** A digest of a secret is nobody's business either. */
function shownToken(data: Buffer): NodeView["data"] {
  const token = parsed(data.toString("utf8"));
  if (typeof token !== "object" || token === null) return shown(data);
  return { kind: "json", value: { ...token, hash: "…" } };
}

/** Only objects and arrays: a priority of 05 is text. */
function parsed(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
