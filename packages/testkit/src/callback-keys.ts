import { jobIdOfUuid, parseJobUuid } from "@sluice/queue-core";

/** A callback's Idempotency-Key with the job's number in place of its UUID: tests know jobs by their numbers. */
export function numbered(key: unknown): string {
  const [name = "", ...rest] = String(key).split(".");
  const uuid = parseJobUuid(name);
  return [uuid === null ? `no uuid: ${name}` : jobIdOfUuid(uuid), ...rest].join(".");
}
