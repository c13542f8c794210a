/**
 * System ids: small numbers that tell the daemons of a store apart. One is reserved by an ephemeral node, so it belongs
 * to a living session and is free again when that session is over, without anybody sweeping.
 */
import { resolveUnknown, type Session } from "@sluice/zookeeper";
import { paths } from "./paths.ts";

/** More daemons than that are a mistake. */
const SYSIDS_MAX = 10_000;

export type Reserved = { readonly ok: true; readonly sysid: number } | { readonly ok: false; readonly why: string };

/** The lowest that is free. `tempid` tells our own attempt from others' when an answer is lost: a name that nobody else has. */
export async function reserveSysid(session: Session, tempid: string): Promise<Reserved> {
  const listed = await session.children(paths.sysids);
  if (!listed.ok) return { ok: false, why: `${listed.code}: ${listed.detail}` };
  const taken = new Set(listed.value.names);
  for (let sysid = 1; sysid <= SYSIDS_MAX; sysid += 1) {
    if (taken.has(String(sysid))) continue;
    const path = paths.sysid(sysid);
    const made = await session.multi([{ op: "create", path, data: Buffer.from(tempid), ephemeral: true }]);
    if (made.ok) return { ok: true, sysid };
    if (made.code === "NODE_EXISTS") continue;
    if (made.code !== "UNKNOWN") return { ok: false, why: `${made.code}: ${made.detail}` };
    const ours = await resolveUnknown(session, async () => {
      const node = await session.get(path);
      if (node.ok) return { ok: true, value: node.value.data.toString("utf8") === tempid };
      return node.code === "NO_NODE" ? { ok: true, value: false } : node;
    });
    if (!ours.ok) return { ok: false, why: `no answer: ${ours.why}` };
    if (ours.value) return { ok: true, sysid };
  }
  return { ok: false, why: "all system ids are taken" };
}

/** Whether it is still ours. The session renews it by living; this is the question whether it did. */
export async function renewSysid(session: Session, sysid: number): Promise<boolean> {
  const found = await session.exists(paths.sysid(sysid));
  return found.ok && found.value?.ephemeralOwner === session.id;
}

/** Only one's own: false, and nothing done, for another's. */
export async function releaseSysid(session: Session, sysid: number): Promise<boolean> {
  if (!(await renewSysid(session, sysid))) return false;
  // Never written, so version 0; and nobody else can take the number while it stands.
  const gone = await session.multi([{ op: "delete", path: paths.sysid(sysid), version: 0 }]);
  return gone.ok;
}
