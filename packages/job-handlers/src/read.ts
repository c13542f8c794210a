/** Reading handlers: what one look finds. */
import { Handler } from "@sluice/wire";
import type { Node, Session } from "@sluice/zookeeper";
import { decodeType, paths } from "./paths.ts";

/** `silence`: no answer. */
export type Silent = "silence";

/** Bodies have up to 60 KB each, and an answer of the server up to 1 MB. */
const READ_AT_ONCE = 12;

/** Null for what is none: nobody runs what cannot be read. */
export function decodeHandler(data: Buffer): Handler | null {
  try {
    return Handler.parse(JSON.parse(data.toString("utf8")));
  } catch {
    return null;
  }
}

/** Increasing. */
export async function versionsOf(session: Session, tenant: string, type: string): Promise<readonly number[] | Silent> {
  const listed = await session.children(paths.type(tenant, type));
  if (!listed.ok) return listed.code === "NO_NODE" ? [] : "silence";
  return listed.value.names.map(Number).sort((a, b) => a - b);
}

export async function readVersion(
  session: Session,
  tenant: string,
  type: string,
  version: number,
): Promise<Handler | null | Silent> {
  const answer = await session.get(paths.version(tenant, type, version));
  if (answer.ok) return decodeHandler(answer.value.data);
  return answer.code === "NO_NODE" ? null : "silence";
}

/** The newest. One that goes between two looks is looked for again. */
export async function readNewest(session: Session, tenant: string, type: string): Promise<Handler | null | Silent> {
  for (;;) {
    const versions = await versionsOf(session, tenant, type);
    if (versions === "silence") return "silence";
    const newest = versions.at(-1);
    if (newest === undefined) return null;
    const answer = await session.get(paths.version(tenant, type, newest));
    if (answer.ok) return decodeHandler(answer.value.data);
    if (answer.code !== "NO_NODE") return "silence";
  }
}

/** Of one tenant, or of all: by tenant, type and version. */
export async function readAll(session: Session, tenant: string | null): Promise<readonly Handler[] | Silent> {
  const tenants = tenant === null ? await namesBelow(session, paths.root) : [tenant];
  if (tenants === "silence") return "silence";
  const places: string[] = [];
  for (const each of tenants) {
    const types = await namesBelow(session, paths.tenant(each));
    if (types === "silence") return "silence";
    for (const type of types.map(decodeType)) {
      const versions = await versionsOf(session, each, type);
      if (versions === "silence") return "silence";
      for (const version of versions) places.push(paths.version(each, type, version));
    }
  }
  return readPlaces(session, places);
}

export async function readTypes(session: Session): Promise<ReadonlyMap<string, ReadonlySet<string>> | Silent> {
  const tenants = await namesBelow(session, paths.root);
  if (tenants === "silence") return "silence";
  const types = new Map<string, ReadonlySet<string>>();
  for (const tenant of tenants) {
    const names = await namesBelow(session, paths.tenant(tenant));
    if (names === "silence") return "silence";
    types.set(tenant, new Set(names.map(decodeType)));
  }
  return types;
}

async function readPlaces(session: Session, places: readonly string[]): Promise<readonly Handler[] | Silent> {
  const handlers: Handler[] = [];
  for (let at = 0; at < places.length; at += READ_AT_ONCE) {
    const answers = await session.readMany(places.slice(at, at + READ_AT_ONCE).map((get) => ({ get })));
    if (!answers.ok) return "silence";
    const nodes = answers.value.flatMap((answer): Node[] => (answer.kind === "node" ? [answer.node] : []));
    for (const { data } of nodes) {
      const handler = decodeHandler(data);
      if (handler !== null) handlers.push(handler);
    }
  }
  return handlers;
}

async function namesBelow(session: Session, path: string): Promise<readonly string[] | Silent> {
  const listed = await session.children(path);
  if (!listed.ok) return listed.code === "NO_NODE" ? [] : "silence";
  return [...listed.value.names].sort();
}
