/**
 * Every change is one transaction that sets the root from the version at which everything was read: whoever changes at the
 * same time is refused, and looks again. A lost answer is resolved by what the change itself leaves in the tree.
 */
import { isSilence, type Op, resolveUnknown, type Session } from "@sluice/zookeeper";
import { paths } from "./paths.ts";

export interface Change<T> {
  readonly ops: readonly Op[];
  readonly result: T;
  /** Whether the tree shows it, and nothing but this change can have made it so. */
  readonly isThere: () => Promise<{ readonly ok: true; readonly value: boolean } | { readonly ok: false }>;
}

export type Changed<T> = { readonly ok: true; readonly result: T } | { readonly ok: false; readonly why: "no-answer" };

/** `plan` looks at the tree; null: there is nothing to change. */
export async function change<T>(
  session: Session,
  by: string,
  plan: () => Promise<Change<T> | { readonly nothing: T } | "silence">,
): Promise<Changed<T>> {
  for (;;) {
    const root = await session.get(paths.root);
    if (!root.ok) return NO_ANSWER;
    const planned = await plan();
    if (planned === "silence") return NO_ANSWER;
    if ("nothing" in planned) return { ok: true, result: planned.nothing };
    const { version } = root.value.stat;
    const done = await write(session, [
      { op: "set", path: paths.root, data: Buffer.from(by), version },
      ...planned.ops,
    ]);
    if (done === "done") return { ok: true, result: planned.result };
    if (done === "silence") return NO_ANSWER;
    if (done === "unknown") {
      const there = await resolveUnknown(session, async () => {
        const seen = await planned.isThere();
        return seen.ok ? seen : { ok: false, code: "UNKNOWN", detail: "no answer" };
      });
      if (!there.ok) return NO_ANSWER;
      if (there.value) return { ok: true, result: planned.result };
    }
    // Refused, or not applied: somebody else may have been first. Look again.
  }
}

const NO_ANSWER = { ok: false, why: "no-answer" } as const;

async function write(session: Session, ops: readonly Op[]): Promise<"done" | "refused" | "unknown" | "silence"> {
  const answer = await session.multi(ops);
  if (answer.ok) return "done";
  if (!isSilence(answer.code)) return isRace(answer.code) ? "refused" : "silence";
  return answer.code === "UNKNOWN" ? "unknown" : "silence";
}

/** Anything else would be refused again. */
const isRace = (code: string): boolean => ["BAD_VERSION", "NODE_EXISTS", "NO_NODE", "NOT_EMPTY"].includes(code);
