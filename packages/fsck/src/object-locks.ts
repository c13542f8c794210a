/** Locks of objects: /locks/storage, /locks/inventory, /locks/localid. */
import { paths } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import type { RuleContext, Suspicion } from "./facts.ts";

const PAGE = 500;

/** null = no answer. */
export async function judgeObjectLocks(session: Session, context: RuleContext): Promise<readonly Suspicion[] | null> {
  const out: Suspicion[] = [];
  // A program beside us holds them too, and registers nothing.
  const patience = context.beside === null ? context.lockMs : context.failMs;
  for (const directory of [paths.storageLocks, paths.inventoryLocks, paths.localIdLocks]) {
    const listed = await session.children(directory);
    if (!listed.ok) {
      if (listed.code === "NO_NODE") continue;
      return null;
    }
    const all = listed.value.names.map((name) => `${directory}/${name}`);
    for (let i = 0; i < all.length; i += PAGE) {
      const page = all.slice(i, i + PAGE);
      const answers = await session.readMany(page.map((get) => ({ get })));
      if (!answers.ok) return null;
      for (const [k, path] of page.entries()) {
        const answer = answers.value[k];
        if (answer?.kind !== "node") continue;
        const { ctime, ephemeralOwner } = answer.node.stat;
        if (context.nowMs - ctime < patience || context.sessions.has(ephemeralOwner)) continue;
        const what = ephemeralOwner === 0n ? "is not ephemeral" : "held by a session that has registered no worker";
        const human = "make sure that nobody works on the object, then remove the lock by hand";
        out.push({ rule: "I-22", path, what, sinceMs: ctime, mend: { human } });
      }
    }
  }
  return out;
}
