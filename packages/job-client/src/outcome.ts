/** What became of a request. Whoever asks must look: nothing throws because somebody else is away. */
import type { Answer, Refusal } from "@sluice/client";

export type Outcome<T> =
  | Answer<T>
  /** It was sent, and no certain answer came: it may have been done, or not. */
  | { readonly ok: false; readonly kind: "unknown"; readonly why: string };

export type Failure = Extract<Outcome<unknown>, { readonly ok: false }>;

/** In words, for a log. */
export function failureText(failure: Failure): string {
  return failure.kind === "refused" ? refusalText(failure.refusal) : failure.why;
}

const refusalText = ({ status, detail }: Refusal): string => `${status} ${detail}`;
