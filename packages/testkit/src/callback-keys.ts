import { findJobId, parseJobUuid } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";

/** A callback's Idempotency-Key with the job's number in place of its UUID: tests know jobs by their numbers. */
export async function numbered(session: Session, key: unknown): Promise<string> {
  const [name = "", ...rest] = String(key).split(".");
  const uuid = parseJobUuid(name);
  return [uuid === null ? `no uuid: ${name}` : await findJobId(session, uuid), ...rest].join(".");
}
