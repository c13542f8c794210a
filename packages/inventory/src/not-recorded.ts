import type { RecordResult } from "./inventory.ts";

/** Leaves the transaction, which undoes it. */
export class NotRecorded extends Error {
  readonly result: RecordResult;

  constructor(result: RecordResult) {
    super(result.kind);
    this.result = result;
  }
}
