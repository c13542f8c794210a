import { objectOf } from "./json-object.ts";

/**
 * A mark in a batch's folder that a mail about it has left us. The first line is the digest of what it told, the second
 * one says what became of it, for people. Pure.
 */
export interface MailMark {
  readonly digest: string;
  readonly subject: string;
  readonly to: readonly string[];
  /** refused: the mail server will never take it. */
  readonly outcome: "sent" | "refused";
  readonly detail: string;
}

export const mailMarkFile = (number: number | "queued"): string => `mail-${number}.sent`;

export const printMailMark = ({ digest, ...facts }: MailMark): string => `${digest}\n${JSON.stringify(facts)}\n`;

/** null: it is no such mark. */
export function parseMailMark(text: string): MailMark | null {
  const [digest = "", facts = ""] = text.split("\n");
  const { subject, to, outcome, detail } = objectOf(facts);
  if (typeof subject !== "string" || typeof detail !== "string" || !isListOfTexts(to)) return null;
  if (outcome !== "sent" && outcome !== "refused") return null;
  return { digest, subject, to, outcome, detail };
}

const isListOfTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");
