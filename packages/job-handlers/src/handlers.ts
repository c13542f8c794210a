/** The store of handlers over one session. */
import { Handler, HANDLER_BYTES, type HandlerSpec } from "@sluice/wire";
import { createMissing, type Op, type Session } from "@sluice/zookeeper";
import { z } from "zod";
import { type Change, change } from "./change.ts";
import { paths, splitVersion, typeProblem } from "./paths.ts";
import { decodeHandler, readAll, readNewest, readTypes, readVersion, type Silent, versionsOf } from "./read.ts";

export interface HandlersPorts {
  readonly nowMs: () => number;
  /** Unique: a handler's id. */
  readonly newId: () => string;
}

export type HandlerFault =
  | { readonly why: "no-answer" }
  /** What is wrong with the type or the handler, for people. */
  | { readonly why: "invalid"; readonly detail: string };

export type Put = { readonly ok: true; readonly handler: Handler } | ({ readonly ok: false } & HandlerFault);

export interface Handlers {
  /** A new version. */
  put(tenant: string, type: string, spec: HandlerSpec, by: string): Promise<Put>;
  /** `type`: a name, or name@version. Null: there is none. */
  get(tenant: string, type: string): Promise<Handler | null | Silent>;
  /** Of one tenant, or of all (null). */
  list(tenant: string | null): Promise<readonly Handler[] | Silent>;
  /** All versions, or the one that is named; answers which. */
  remove(tenant: string, type: string, by: string): Promise<readonly number[] | Silent>;
  /** Its jobs are for whoever runs handlers, even while it has none. False: no answer. */
  expect(tenant: string, type: string): Promise<boolean>;
  /** Types that have a handler, had one, or are expected to get one, by tenant. */
  types(): Promise<ReadonlyMap<string, ReadonlySet<string>> | Silent>;
  /** Told after every change, as long as the session lives; returns the way to stop it. */
  watch(onChange: () => void): () => void;
}

export type OpenedHandlers =
  { readonly ok: true; readonly handlers: Handlers } | { readonly ok: false; readonly why: string };

/** Older ones go when a new one comes. */
const VERSIONS_KEPT = 20;
/** Of one tenant; whoever adds jobs of ever new types fills no tree with them. */
const TYPES_EXPECTED = 1_000;

export async function openHandlers(session: Session, ports: HandlersPorts): Promise<OpenedHandlers> {
  const frame = paths.frame.map((path) => ({ op: "create", path, data: Buffer.alloc(0) }) as const);
  const fault = await createMissing(session, frame);
  if (fault !== null) return { ok: false, why: `${fault.code}: ${fault.detail}` };
  return {
    ok: true,
    handlers: {
      put: (tenant, type, spec, by) => put(session, ports, { tenant, type, by }, spec),
      async get(tenant, raw) {
        const { type, version } = splitVersion(raw);
        return version === null ? readNewest(session, tenant, type) : readVersion(session, tenant, type, version);
      },
      list: (tenant) => readAll(session, tenant),
      remove: (tenant, type, by) => remove(session, tenant, type, by),
      expect: (tenant, type) => expectType(session, tenant, splitVersion(type).type),
      types: () => readTypes(session),
      watch: (onChange) => watch(session, onChange),
    },
  };
}

type About = Pick<Handler, "tenant" | "type" | "by">;

async function put(session: Session, ports: HandlersPorts, about: About, spec: HandlerSpec): Promise<Put> {
  const problem = typeProblem(about.type) ?? networkProblem(spec);
  if (problem !== null) return { ok: false, why: "invalid", detail: problem };
  const facts = { id: ports.newId(), ...about, created: new Date(ports.nowMs()).toISOString() };
  if (encode({ ...spec, ...facts, version: Number.MAX_SAFE_INTEGER }).length > HANDLER_BYTES)
    return { ok: false, why: "invalid", detail: `a handler has at most ${HANDLER_BYTES} bytes` };
  const done = await change(session, about.by, () => planPut(session, { ...spec, ...facts }));
  return done.ok ? { ok: true, handler: done.result } : done;
}

/** What would be declared in vain is a mistake of who declares it. */
const networkProblem = ({ lang, allow }: HandlerSpec): string | null =>
  lang === "node" || (allow?.network ?? []).length === 0
    ? null
    : `allow.network is for node handlers: ${lang} handlers cannot ask hosts`;

async function planPut(session: Session, handler: Omit<Handler, "version">): Promise<Change<Handler> | Silent> {
  const { tenant, type, id } = handler;
  const [home, place] = [paths.tenant(tenant), paths.type(tenant, type)];
  const [tenantNode, typeNode] = [await session.exists(home), await session.get(place)];
  const versions = await versionsOf(session, tenant, type);
  if (!tenantNode.ok || versions === "silence") return "silence";
  if (!typeNode.ok && typeNode.code !== "NO_NODE") return "silence";
  const made = { ...handler, version: (typeNode.ok ? lastOf(typeNode.value.data) : 0) + 1 };
  const last = lastIs(made.version);
  const path = paths.version(tenant, type, made.version);
  const tooOld = versions.slice(0, Math.max(0, versions.length - VERSIONS_KEPT + 1));
  const ops: Op[] = [
    ...(tenantNode.value === null ? [{ op: "create", path: home, data: Buffer.alloc(0) } as const] : []),
    typeNode.ok
      ? { op: "set", path: place, data: last, version: typeNode.value.stat.version }
      : { op: "create", path: place, data: last },
    { op: "create", path, data: encode(made) },
    ...tooOld.map((version) => deletion(tenant, type, version)),
  ];
  const isThere: Change<Handler>["isThere"] = async () => {
    const node = await session.get(path);
    if (node.ok) return { ok: true, value: decodeHandler(node.value.data)?.id === id };
    return node.code === "NO_NODE" ? { ok: true, value: false } : { ok: false };
  };
  return { ops, result: made, isThere };
}

/** Only its place: what comes later finds it there. */
async function expectType(session: Session, tenant: string, type: string): Promise<boolean> {
  const [home, place] = [paths.tenant(tenant), paths.type(tenant, type)];
  const done = await change<null>(session, "", async () => {
    const [tenantNode, typeNode] = [await session.exists(home), await session.exists(place)];
    if (!tenantNode.ok || !typeNode.ok) return "silence";
    if (typeNode.value !== null) return { nothing: null };
    if ((tenantNode.value?.numChildren ?? 0) >= TYPES_EXPECTED) return { nothing: null };
    const ops: Op[] = [
      ...(tenantNode.value === null ? [{ op: "create", path: home, data: Buffer.alloc(0) } as const] : []),
      { op: "create", path: place, data: lastIs(0) },
    ];
    const isThere: Change<null>["isThere"] = async () => {
      const node = await session.exists(place);
      return node.ok ? { ok: true, value: node.value !== null } : { ok: false };
    };
    return { ops, result: null, isThere };
  });
  return done.ok;
}

async function remove(session: Session, tenant: string, raw: string, by: string): Promise<readonly number[] | Silent> {
  const { type, version } = splitVersion(raw);
  const done = await change(session, by, async () => {
    const there = await versionsOf(session, tenant, type);
    if (there === "silence") return "silence";
    const doomed = there.filter((each) => version === null || each === version);
    if (doomed.length === 0) return { nothing: doomed };
    const isThere: Change<readonly number[]>["isThere"] = async () => {
      const left = await versionsOf(session, tenant, type);
      return left === "silence" ? { ok: false } : { ok: true, value: !doomed.some((each) => left.includes(each)) };
    };
    return { ops: doomed.map((each) => deletion(tenant, type, each)), result: doomed, isThere };
  });
  return done.ok ? done.result : "silence";
}

/** A version's node is never written again. */
const deletion = (tenant: string, type: string, version: number): Op => ({
  op: "delete",
  path: paths.version(tenant, type, version),
  version: 0,
});

const encode = (handler: Handler): Buffer => Buffer.from(JSON.stringify(handler));

const LastSchema = z.object({ last: z.int().min(0) });
const lastIs = (version: number): Buffer => Buffer.from(JSON.stringify({ last: version }));
const lastOf = (data: Buffer): number => LastSchema.parse(JSON.parse(data.toString("utf8"))).last;

/** Armed before it is told: nothing that changes meanwhile is missed. */
function watch(session: Session, onChange: () => void): () => void {
  let isOver = false;
  const arm = async (): Promise<void> => {
    const armed = await session.get(paths.root, () => void fired().catch(onChange));
    if (armed.ok || isOver || session.lost.aborted) return;
    if (await session.untilConnected()) await arm();
  };
  const fired = async (): Promise<void> => {
    if (isOver) return;
    await arm();
    onChange();
  };
  // Who cannot watch looks again, as after a change.
  arm().catch(onChange);
  return () => {
    isOver = true;
  };
}
