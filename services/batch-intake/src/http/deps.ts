import type { Log } from "@sluice/stage-runtime";
import type { IncomingFolders } from "../files/incoming.ts";
import type { Acceptance, AcceptPorts } from "../submission/accept.ts";
import { fieldProblems, type Problem } from "./problem.ts";

/** What the HTTP side works with. */
export interface HttpDeps extends AcceptPorts {
  readonly incoming: IncomingFolders;
  readonly removeBatchFolder: (bid: string) => Promise<void>;
  readonly uploadMaxBytes: number;
  /** For Merritt's `hostname` header. */
  readonly hostname: string;
  readonly log: Log;
}

/** Until callers are known by name. */
export const ANONYMOUS = "anonymous";

/** When to ask again while nothing can be taken: longer than a lost session needs to come back. */
export const RETRY_AFTER_SECONDS = 15;

export function problemOf(refusal: Exclude<Acceptance, { kind: "accepted" }>): Problem {
  switch (refusal.kind) {
    case "wrong-fields":
      return fieldProblems(refusal.problems);
    case "wrong-digest":
      return { code: "PAYLOAD_DIGEST_MISMATCH", detail: refusal.detail };
    case "key-reused":
      return { code: "KEY_REUSED", detail: `${refusal.uuid} was submitted under this key with other content` };
    case "unavailable":
      return { code: "UNAVAILABLE", detail: refusal.why, retryAfterSeconds: RETRY_AFTER_SECONDS };
  }
}
