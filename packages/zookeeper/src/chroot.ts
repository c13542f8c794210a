import { openSession, type SessionOptions } from "./open-session.ts";
import { parseConnect, showServers } from "./paths.ts";
import type { Session } from "./port.ts";

/** Makes the node that a connect string names as its chroot, and those above it. Answers why not, or null. */
export async function ensureChroot(options: SessionOptions): Promise<string | null> {
  const { chroot, servers } = parseConnect(options.connect);
  if (chroot === "") return null;
  // No session can make its own root: it would look for it below itself. This one is not the caller's: no hooks.
  const opened = await openSession({ ...options, hooks: {}, connect: showServers(servers) });
  if (!opened.ok) return opened.why;
  const problem = await makeAll(opened.session, ancestors(chroot));
  await opened.session.close();
  return problem;
}

/** Asking first: in a ready tree nothing is written, and no right to create is needed. */
async function makeAll(session: Session, paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const found = await session.exists(path);
    if (found.ok && found.value !== null) continue;
    const made = await session.multi([{ op: "create", path, data: Buffer.alloc(0) }]);
    if (!made.ok && made.code !== "NODE_EXISTS") return `cannot create the chroot ${path}: ${made.code} ${made.detail}`;
  }
  return null;
}

/** /a/b/c: /a, /a/b, /a/b/c */
function ancestors(path: string): string[] {
  const names = path.split("/").slice(1);
  return names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
}
