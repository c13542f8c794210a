/** The first line about a batch: who submitted it, when, and under which ids it is found from here on. */
import type { Log } from "@sluice/stage-runtime";
import { parseTraceparent } from "@sluice/tracing";
import type { Acceptance } from "./accept.ts";
import type { Depositor } from "./depositor.ts";

const FIELDS_NAMED_MAX = 10;

/** Never what a field holds: that is the depositor's. */
export function logAcceptance(log: Log, { id: caller }: Pick<Depositor, "id">, answer: Acceptance): void {
  const refused = (why: string, more: object = {}): void => log.info({ caller, why, ...more }, "submission refused");
  switch (answer.kind) {
    case "accepted":
      log.info(
        {
          caller,
          batch_uuid: answer.uuid,
          ...(answer.id === null ? {} : { batch_id: answer.id }),
          profile: answer.submission.profile_name,
          place: answer.id === null ? "journal" : "queue",
          replayed: answer.replayed,
          ...(answer.replayed ? {} : { trace_id: parseTraceparent(answer.submission.traceparent)?.traceId }),
        },
        "submission accepted",
      );
      return;
    // Its own line tells how much is in progress.
    case "over-quota":
      return;
    case "unavailable":
      log.warn({ caller, why: answer.why }, "submission refused");
      return;
    case "no-room":
      log.warn({ caller, why: "the working volume is full" }, "submission refused");
      return;
    case "wrong-fields": {
      const fields = answer.problems.map(({ field }) => field).slice(0, FIELDS_NAMED_MAX);
      refused("wrong fields", { fields });
      return;
    }
    case "key-reused":
      refused("the same key was used for another request", { batch_uuid: answer.uuid });
      return;
    case "not-theirs":
      refused("the collection is not the caller's", { profile: answer.profile });
      return;
    case "wrong-digest":
      refused(answer.detail);
      return;
  }
}
