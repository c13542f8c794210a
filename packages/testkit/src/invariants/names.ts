/** The invariants of the queue that can be seen in the transaction log alone. */
export const INVARIANTS = {
  "I-01": "ONE-STATE",
  "I-02": "STATE-AGREES",
  "I-03": "PRIORITY-AGREES",
  "I-04": "BATCH-ONE",
  "I-05": "BATCH-AGREES",
  "I-06": "BACKREF",
  "I-07": "NO-GHOST",
  "I-08": "JOB-WHOLE",
  "I-09": "BATCH-WHOLE",
  "I-10": "EXPANSION-EXACT",
  "I-11": "REPORT-GATE",
  "I-12": "REPORT-EXACT",
  "I-13": "VERDICT",
  "I-14": "TERMINAL",
  "I-15": "LEGAL-EDGE",
  "I-16": "LAST-SUCCESS",
  "I-17": "RETRY-MONOTONE",
  "I-18": "ATOMIC-MOVE",
  "I-19": "OWNER-WRITES",
  "I-20": "EPOCH",
  "I-21": "LOCK-WITH-MOVE",
  "I-22": "NO-STALE-LOCK",
  "I-27": "HOLD",
  "I-38": "SIZE",
  "L-01": "CLOSED-SESSION-WRITES",
  "L-02": "MOVE-ADDS-EVENT",
  "L-03": "CLAIM-ADDS-ATTEMPT",
  "L-04": "FAILED-LEAVES-CALLBACK",
} as const;

export type InvariantId = keyof typeof INVARIANTS;
export type InvariantName = { [Id in InvariantId]: `${Id} ${(typeof INVARIANTS)[Id]}` }[InvariantId];

export const nameOf = (id: InvariantId): InvariantName => `${id} ${INVARIANTS[id]}` as InvariantName;

/** What a rule says when it is broken; null when it holds. */
export type Finding = string | null;
