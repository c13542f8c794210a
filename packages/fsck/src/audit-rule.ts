/** The audit's chain, followed from its first record to the head as it was when we began. A few hundred at a time. */
import { auditHash, paths, records } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import type { Suspicion } from "./facts.ts";

const PAGE = 200;
const HUMAN = "the audit cannot be mended, only explained: keep a snapshot, and find out who could write to the tree";

/** null = no answer. */
export async function judgeAudit(session: Session, pause: () => Promise<void>): Promise<readonly Suspicion[] | null> {
  const say = (path: string, what: string): readonly Suspicion[] => [
    { rule: "I-37", path, what, sinceMs: null, mend: { human: HUMAN } },
  ];
  const node = await session.get(paths.auditHead);
  if (!node.ok) return node.code === "NO_NODE" ? say(paths.auditHead, "is missing") : null;
  const head = records.auditHead.decode(node.value.data);
  if (!head.ok) return say(paths.auditHead, "cannot be read");
  let previous = "";
  for (let first = 1; first <= head.value.number; first += PAGE) {
    const count = Math.min(PAGE, head.value.number - first + 1);
    const numbers = Array.from({ length: count }, (_, i) => first + i);
    const answers = await session.readMany(numbers.map((number) => ({ get: paths.auditRecord(number) })));
    if (!answers.ok) return null;
    for (const [i, number] of numbers.entries()) {
      const answer = answers.value[i];
      const path = paths.auditRecord(number);
      if (answer?.kind !== "node") return say(path, "is missing");
      const record = records.auditRecord.decode(answer.node.data);
      if (!record.ok || record.value.number !== number) return say(path, "cannot be read");
      if (record.value.previous !== previous) return say(path, "does not follow its predecessor");
      previous = auditHash(answer.node.data);
    }
    await pause();
  }
  return previous === head.value.hash ? [] : say(paths.auditHead, "does not name the last record");
}
