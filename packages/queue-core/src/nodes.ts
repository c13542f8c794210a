/** From what a multiRead answered to records. */
import type { EachAnswer, Node } from "@sluice/zookeeper";
import type { Parsed, RecordType } from "./records.ts";

export const nodeOf = (answer: EachAnswer | undefined): Node | null => (answer?.kind === "node" ? answer.node : null);

/** What keeps one of several nodes from being read, other than that it is not there; null: nothing. */
export function unreadableIn(answers: readonly EachAnswer[]): string | null {
  const error = answers.find((answer) => answer.kind === "error");
  return error === undefined ? null : `cannot be read: ${error.code}`;
}

/** The record of a node that must be there. */
export const required = <T>(record: RecordType<T>, node: Node | null | undefined): Parsed<T> =>
  node ? record.decode(node.data) : { ok: false, problem: `${record.name}: no node` };

/** The record of a node that may be missing, but not broken. */
export const optional = <T>(record: RecordType<T>, node: Node | null | undefined): Parsed<T | null> =>
  node ? record.decode(node.data) : { ok: true, value: null };

/** The record of a node, for those who only show it: null when it is missing or cannot be read. */
export function readable<T>(record: RecordType<T>, node: Node | null | undefined): T | null {
  const decoded = node ? record.decode(node.data) : null;
  return decoded?.ok === true ? decoded.value : null;
}
