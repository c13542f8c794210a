/** Operators are told of what fsck finds once for each set of findings, however often and by whomever it is found. */
import { createHash } from "node:crypto";
import type { Op, Session } from "@sluice/zookeeper";
import { createOp, setOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { type OperatorMail, records } from "./records.ts";

/** news: a mail was ordered. known: the last report found the same. clean: nothing was found. */
export type Noticed = "news" | "known" | "clean";

export interface FoundPlace {
  readonly rule: string;
  readonly path: string;
}

const ID_LENGTH = 32;

/** By what is wrong and where: how it is put in words changes with every report. */
export function findingsId(findings: readonly FoundPlace[]): string {
  if (findings.length === 0) return "";
  const places = findings.map(({ rule, path }) => JSON.stringify([rule, path]));
  return createHash("sha256")
    .update([...new Set(places)].sort().join("\n"))
    .digest("hex")
    .slice(0, ID_LENGTH);
}

/** In one transaction, so that of two reports at once one is news. Null: it could not be written, or nobody knows. */
export async function noticeFindings(
  session: Session,
  findings: readonly FoundPlace[],
  mail: OperatorMail,
): Promise<Noticed | null> {
  const id = findingsId(findings);
  const before = await session.get(paths.fsckFound);
  if (!before.ok && before.code !== "NO_NODE") return null;
  const last = before.ok ? records.fsckFound.decode(before.value.data) : null;
  if (last?.ok === true && last.value.set === id) return id === "" ? "clean" : "known";
  const data = records.fsckFound.encode({ set: id, findings: findings.length, at: mail.at });
  const found = before.ok ? setOp(paths.fsckFound, data, before.value.stat.version) : createOp(paths.fsckFound, data);
  const ops: Op[] = [found];
  if (id !== "" && !(await isOrdered(session, id)))
    ops.push(createOp(paths.operatorMail(id), records.operatorMail.encode(mail)));
  return (await session.multi(ops)).ok ? (id === "" ? "clean" : "news") : null;
}

/** The mail of an earlier report that found this, which nobody has sent yet. */
async function isOrdered(session: Session, id: string): Promise<boolean> {
  const there = await session.exists(paths.operatorMail(id));
  return there.ok && there.value !== null;
}
