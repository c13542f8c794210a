/** What became of a claim, as the tree has it: any process can tell, also after the one that held it is gone. */
import { endOfClaim, type EventKind, jobRow, type JobState, paths, records } from "@sluice/queue-core";
import type { EndedClaim } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";
import type { RemoteStage } from "../stages.ts";
import type { ClaimRef } from "./claim-ref.ts";

export type Fate =
  | { readonly kind: "ended"; readonly as: EventKind; readonly state: JobState }
  /** Its lock stands: whoever holds it may still settle it. */
  | { readonly kind: "held" }
  | { readonly kind: "lost"; readonly why: string }
  /** Of another stage. */
  | { readonly kind: "foreign" }
  | { readonly kind: "silence" };

export async function fateOf(session: Session, ref: ClaimRef, { stage, takes }: RemoteStage): Promise<Fate> {
  const answers = await session.readMany([{ get: paths.fleetJob(ref.job) }, { get: paths.jobLock(ref.job) }]);
  if (!answers.ok) return { kind: "silence" };
  const [history, lock] = answers.value;
  if (history?.kind === "none") return { kind: "lost", why: "the job is gone" };
  const decoded = history?.kind === "node" ? records.fleetJob.decode(history.node.data) : null;
  if (decoded?.ok !== true) return { kind: "silence" };
  const ended = endOfClaim(decoded.value, ref.id);
  if (ended !== null)
    return ended.state === takes
      ? { kind: "ended", as: ended.kind, state: leadsTo(takes, ended.kind) }
      : { kind: "foreign" };
  const held = lock?.kind === "node" ? records.lock.decode(lock.node.data) : null;
  if (held?.ok === true && held.value.claim === ref.id)
    return held.value.stage === stage ? { kind: "held" } : { kind: "foreign" };
  return { kind: "lost", why: "another writer has moved the job, or its claim was given up: drop what was done" };
}

function leadsTo(from: JobState, as: EventKind): JobState {
  switch (as) {
    case "done":
    case "park":
      return jobRow(from)[as] ?? from;
    case "fail":
    case "quarantine":
      return "Failed";
    default:
      return from;
  }
}

export type Said = "done" | "retry" | "snooze" | "fail";

/** What each word can end as: the engine parks a held job, counts attempts, and knows which states have no way to fail. */
const CAN_END_AS: Readonly<Record<Said, readonly EventKind[]>> = {
  done: ["done", "park", "snooze"],
  retry: ["retry", "fail", "quarantine"],
  snooze: ["snooze"],
  fail: ["fail", "retry", "quarantine"],
};

export type Repeated =
  { readonly kind: "same"; readonly ended: EndedClaim } | { readonly kind: "other"; readonly why: string };

/** A word about a claim that has ended: a repetition, or another one. */
export function repeated(said: Said, { as, state }: Extract<Fate, { kind: "ended" }>): Repeated {
  if (CAN_END_AS[said].includes(as)) return { kind: "same", ended: { outcome: as, state, repeated: true } };
  const why = as === "handback" ? "its stage-api was stopped" : `it ended as ${as} before`;
  return { kind: "other", why };
}
