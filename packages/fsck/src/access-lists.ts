/** Who may reach which node: every node of the tree with its access list, page by page, parents before children. */
import type { Acl, NodeAcl, Session } from "@sluice/zookeeper";
import { isOpen } from "@sluice/zookeeper";
import type { Suspicion } from "./facts.ts";

/** Lists are asked for one by one, and all of a page at once. */
const PAGE = 200;

export interface Listed {
  readonly path: string;
  readonly acl: NodeAcl;
}

/** The server's own nodes, which stand beside ours where there is no chroot. */
const SERVERS_OWN = "/zookeeper";

const childOf = (path: string, name: string): string => (path === "/" ? `/${name}` : `${path}/${name}`);

/** A text says why it ended early: no answer, or a node that we may not even look at. What went meanwhile is left out. */
export async function* walkAccessLists(session: Session): AsyncGenerator<readonly Listed[] | string, void, undefined> {
  const waiting: string[] = ["/"];
  while (waiting.length > 0) {
    const page = waiting.splice(-PAGE);
    const [children, lists] = await Promise.all([
      session.readEach(page.map((path) => ({ children: path }))),
      Promise.all(page.map((path) => session.getAcl(path))),
    ]);
    if (!children.ok) return yield `ZooKeeper does not answer: ${children.code}`;
    const listed: Listed[] = [];
    for (const [i, path] of page.entries()) {
      const [below, acl] = [children.value[i], lists[i]];
      if (below?.kind === "error") return yield `${path}: ${below.code}`;
      if (acl?.ok === false && acl.code !== "NO_NODE") return yield `${path}: ${acl.code}`;
      if (below?.kind === "children") {
        const all = below.names.map((name) => childOf(path, name));
        for (const each of all) if (each !== SERVERS_OWN) waiting.push(each);
      }
      if (acl?.ok === true) listed.push({ path, acl: acl.value });
    }
    yield listed;
  }
}

/** A tree that was never secured has as many open nodes as nodes: a few of them say it. */
const NAMED_MAX = 20;
const HUMAN =
  "sluice secure --zookeeper HOSTS closes every node; then find out who made it: a service without an identity?";

/** Only where we are somebody: without an identity everything is open, and meant to be. null = no answer. */
export async function judgeAccess(session: Session, pause: () => Promise<void>): Promise<readonly Suspicion[] | null> {
  if (isOpen(session.aclOf("/"))) return [];
  const open: string[] = [];
  for await (const page of walkAccessLists(session)) {
    if (typeof page === "string") return null;
    for (const { path, acl } of page) if (isOpen(acl.entries)) open.push(path);
    await pause();
  }
  return open.slice(0, NAMED_MAX).map((path, i) => {
    const more = i === 0 && open.length > NAMED_MAX ? `, and so are ${open.length - 1} more nodes` : "";
    return { rule: "ACL", path, what: `is open to everyone${more}`, sinceMs: null, mend: { human: HUMAN } };
  });
}

export interface SecureOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly looked: number; readonly changed: number }) => void;
}

export type Secured =
  | { readonly kind: "secured"; readonly looked: number; readonly changed: number }
  | { readonly kind: "refused"; readonly why: string }
  /** What was changed by then stays. Begun again, it goes on with the rest. */
  | { readonly kind: "broken-off"; readonly why: string; readonly looked: number; readonly changed: number };

/**
 * Gives every node the list that this session gives to nodes it creates: closes a tree that was open, takes a new
 * identity in, leaves an old one out. Nodes that have it already are not written.
 */
export async function secureTree(session: Session, options: SecureOptions = {}): Promise<Secured> {
  if (isOpen(session.aclOf("/")))
    return {
      kind: "refused",
      why: "we are nobody to this ZooKeeper: set ZOOKEEPER_TLS and its files, as the services have them",
    };
  const root = await closeRoot(session);
  if (typeof root === "string") return { kind: "refused", why: root };
  const { owners } = root;
  let [looked, changed] = [0, root.changed ? 1 : 0];
  for await (const page of walkAccessLists(session)) {
    if (typeof page === "string") return { kind: "broken-off", why: page, looked, changed };
    const wrong = page.filter(({ path, acl }) => !sameAcl(acl.entries, resolved(session.aclOf(path), owners)));
    const answers = await Promise.all(
      wrong.map(({ path, acl }) => session.setAcl(path, session.aclOf(path), acl.version)),
    );
    const trouble = answers.find((answer) => !answer.ok && answer.code !== "NO_NODE");
    if (trouble?.ok === false) return { kind: "broken-off", why: `${trouble.code} ${trouble.detail}`, looked, changed };
    looked += page.length;
    changed += answers.filter(({ ok }) => ok).length;
    options.onProgress?.({ looked, changed });
    if (options.signal?.aborted === true) return { kind: "broken-off", why: "interrupted", looked, changed };
  }
  return { kind: "secured", looked, changed };
}

/** As whom the server knows us: it writes that into the list of a node when it is told "whoever I am". */
async function closeRoot(
  session: Session,
): Promise<{ readonly owners: readonly Acl[]; readonly changed: boolean } | string> {
  const before = await session.getAcl("/");
  if (!before.ok) return `${before.code} ${before.detail}`;
  const wanted = session.aclOf("/");
  const set = await session.setAcl("/", wanted, before.value.version);
  if (!set.ok) return `${set.code} ${set.detail}`;
  const after = await session.getAcl("/");
  if (!after.ok) return `${after.code} ${after.detail}`;
  return {
    owners: after.value.entries.filter((entry) => !wanted.some((other) => sameAcl([entry], [other]))),
    changed: !sameAcl(before.value.entries, after.value.entries),
  };
}

const resolved = (wanted: readonly Acl[], owners: readonly Acl[]): readonly Acl[] =>
  wanted.flatMap((entry) =>
    entry.scheme === "auth" ? owners.map((owner) => ({ ...owner, permissions: entry.permissions })) : [entry],
  );

const keyOf = ({ permissions, scheme, id }: Acl): string => `${permissions} ${scheme} ${id}`;
const sameAcl = (a: readonly Acl[], b: readonly Acl[]): boolean =>
  a.length === b.length && JSON.stringify(a.map(keyOf).sort()) === JSON.stringify(b.map(keyOf).sort());
