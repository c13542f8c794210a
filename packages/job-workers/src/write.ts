/** Writes of an entry: each names the version it believes in, and a lost answer is resolved, never guessed. */
import { createMissing, isSilence, type Op, resolveUnknown, type Session } from "@sluice/zookeeper";

/** - done: it stands in the tree. - refused: somebody else wrote first. - lost: nobody knows; the session is of no more use. */
export type Written = "done" | "refused" | "lost";

/** The bytes at `path` tell afterwards whether our transaction was applied: they must be ours alone. */
export async function writeOnce(session: Session, ops: readonly Op[], path: string, ours: Buffer): Promise<Written> {
  for (;;) {
    const answer = await session.multi(ops);
    if (answer.ok) return "done";
    if (!isSilence(answer.code)) return "refused";
    if (answer.code === "SESSION_LOST") return "lost";
    const seen = await resolveUnknown(session, async () => {
      const node = await session.get(path);
      if (node.ok) return { ok: true, value: node.value.data.equals(ours) };
      return node.code === "NO_NODE" ? { ok: true, value: false } : node;
    });
    if (!seen.ok) return "lost";
    if (seen.value) return "done";
    // Not applied: the same again can only be applied if nobody else has written meanwhile.
  }
}

/** What every registry needs. Null = it stands. */
export async function prepare(session: Session, frame: readonly string[]): Promise<string | null> {
  const fault = await createMissing(
    session,
    frame.map((path) => ({ op: "create", path, data: Buffer.alloc(0) })),
  );
  return fault === null ? null : `${fault.code}: ${fault.detail}`;
}
