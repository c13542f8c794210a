import type { Answer, EachAnswer, Read, ReadAnswer } from "./port.ts";

/** All answers, or the first refusal instead of them. */
export function allOf(reads: readonly Read[], answers: readonly EachAnswer[]): Answer<readonly ReadAnswer[]> {
  const value: ReadAnswer[] = [];
  for (const [i, answer] of answers.entries()) {
    if (answer.kind === "error") return { ok: false, code: answer.code, detail: placeOf(reads[i]) };
    value.push(answer);
  }
  return { ok: true, value };
}

function placeOf(read: Read | undefined): string {
  if (read === undefined) return "a read that was not asked for";
  return "get" in read ? `get ${read.get}` : `children ${read.children}`;
}
