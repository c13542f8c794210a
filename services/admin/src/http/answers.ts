/** Answers that many endpoints have in common. */
import { type Problem, problem } from "@sluice/http-api";
import type { OpenQueue } from "@sluice/stage-runtime";

export const SILENCE = {
  problem: problem("UNAVAILABLE", "ZooKeeper does not answer just now", { retryAfterSeconds: 5 }),
} as const;

/** Also for what stands outside the caller's collections: whether it exists is not theirs to know. */
export const nothing = (what: string): { readonly problem: Problem } => ({
  problem: problem("NOT_FOUND", `there is no ${what} with this id`),
});

export const broken = (what: string): { readonly problem: Problem } => ({
  problem: problem("INTERNAL_ERROR", `${what}: run fsck`),
});

/** The queue, if somebody would answer. */
export function connected(queue: () => OpenQueue | null): OpenQueue | null {
  const open = queue();
  return open?.context.session.state === "connected" ? open : null;
}
