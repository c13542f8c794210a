import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  BATCH_STATES,
  batchId,
  batchUuidFromKey,
  BUCKETS,
  clampPriority,
  directoryOf,
  ID_MAX,
  JOB_STATES,
  jobId,
  jobUuid,
  meaningOf,
  parseBatchId,
  parseBatchUuid,
  parseCallbackName,
  parseJobId,
  parseJobUuid,
  parseQueueEntry,
  paths,
  STAGES,
} from "../src/index.ts";
import { jobUuidOfRow, ROW_MAX, whereIsJob } from "../src/ids.ts";

const number = fc.integer({ min: 0, max: ID_MAX });
const job = number.map(jobId);
const batch = number.map(batchId);
const priority = fc.integer({ min: 0, max: 99 });
const name = (path: string): string => path.split("/").at(-1) ?? "";

describe("every path", () => {
  test("survives the round trip through its parser", () => {
    fc.assert(
      fc.property(
        job,
        batch,
        priority,
        fc.constantFrom(...JOB_STATES),
        fc.constantFrom(...BUCKETS),
        (j, b, p, state, bucket) => {
          expect(meaningOf(paths.queueEntry(state, p, j))).toEqual({ kind: "queue-entry", state, priority: p, job: j });
          expect(meaningOf(paths.job(j))).toEqual({ kind: "job", job: j });
          expect(meaningOf(paths.batch(b))).toEqual({ kind: "batch", batch: b });
          expect(meaningOf(paths.bucket(b, bucket))).toEqual({ kind: "bucket", batch: b, bucket });
          expect(meaningOf(paths.bucketEntry(b, bucket, j))).toEqual({
            kind: "bucket-entry",
            batch: b,
            bucket,
            job: j,
          });
          expect(meaningOf(paths.fleetJob(j))).toEqual({ kind: "fleet-job", job: j });
          expect(meaningOf(paths.expansion(b))).toEqual({ kind: "expansion", batch: b });
          expect(meaningOf(paths.dueBatch(b))).toEqual({ kind: "due-batch", batch: b });
          expect(meaningOf(paths.callback(j, p))).toEqual({ kind: "callback", job: j, retry: p });
          for (const [path, node] of [
            [paths.jobStatus(j), "status"],
            [paths.jobLock(j), "lock"],
            [paths.jobBid(j), "bid"],
            [paths.jobConfiguration(j), "configuration"],
            [paths.jobIdentifiers(j), "identifiers"],
            [paths.jobMetadata(j), "metadata"],
            [paths.jobInventory(j), "inventory"],
            [paths.jobPriority(j), "priority"],
            [paths.jobSpaceNeeded(j), "space_needed"],
          ] as const) {
            expect(meaningOf(path)).toEqual({ kind: "job-node", job: j, name: node });
          }
          for (const [path, node] of [
            [paths.batchStatus(b), "status"],
            [paths.batchSubmission(b), "submission"],
            [paths.batchReport(b), "status-report"],
            [paths.batchLock(b), "lock"],
            [paths.batchStates(b), "states"],
          ] as const) {
            expect(meaningOf(path)).toEqual({ kind: "batch-node", batch: b, name: node });
          }
        },
      ),
    );
  });

  test("of batches, workers and locks is understood", () => {
    const b = batchId(7);
    for (const state of BATCH_STATES) {
      expect(meaningOf(paths.fleetBatch(state, b))).toEqual({ kind: "fleet-batch", state, batch: b });
    }
    for (const stage of STAGES)
      expect(meaningOf(paths.worker(stage, "w-1"))).toEqual({ kind: "worker", stage, worker: "w-1" });
    expect(meaningOf(paths.collectionHold("x_content"))).toEqual({ kind: "collection-hold", profile: "x_content" });
    expect(meaningOf(paths.storageLock("ark:/99999/fk4555"))).toEqual({
      kind: "object-lock",
      family: "storage",
      name: "ark_99999_fk4555",
    });
    for (const path of ["/", "/jobs", "/jobs/states", "/jobs/states/pending", "/jobs/jid1", "/fleet/id", "/x/y"]) {
      expect(meaningOf(path)).toEqual({ kind: "other" });
    }
  });

  test("is spelled in lower case where CDL's libraries do so", () => {
    expect(paths.queueEntry("Provisioning", 5, jobId(12))).toBe("/jobs/states/provisioning/05-jid0000000012");
    expect(JOB_STATES.map(directoryOf).every((d) => d === d.toLowerCase())).toBe(true);
  });
});

describe("ids", () => {
  test("parse exactly what they print", () => {
    fc.assert(
      fc.property(number, (n) => {
        expect(parseJobId(jobId(n))).toBe(jobId(n));
        expect(parseBatchId(batchId(n))).toBe(batchId(n));
        const uuid = jobUuid(jobId(n), "history");
        expect(parseJobUuid(uuid)).toBe(uuid);
        expect(whereIsJob(uuid)).toEqual({ kind: "number", id: jobId(n) });
      }),
    );
  });

  test("of a row tell where the row is, and are its own for every history, batch, row and content", () => {
    fc.assert(
      fc.property(number, fc.integer({ min: 1, max: ROW_MAX }), (n, row) => {
        const origin = { fleet: "fleet", batch: batchId(n), batchName: "bid-1", row, content: "a" };
        const uuid = jobUuidOfRow(origin);
        expect(parseJobUuid(uuid)).toBe(uuid);
        expect(whereIsJob(uuid)).toEqual({ kind: "row", batch: batchId(n), row });
        expect(jobUuidOfRow({ ...origin })).toBe(uuid);
        for (const other of [{ fleet: "other" }, { batchName: "bid-2" }, { content: "b" }])
          expect(jobUuidOfRow({ ...origin, ...other })).not.toBe(uuid);
      }),
    );
  });

  test("refuse what would become another path", () => {
    for (const raw of [
      "",
      "jid1",
      "jid00000000001",
      "../jid0000000001",
      "jid0000000001/lock",
      "JID0000000001",
      "jid000000000１",
    ]) {
      expect(parseJobId(raw)).toBeNull();
    }
  });

  test("one key of one caller is one batch, and callers do not share keys", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (callerA, keyA, callerB, keyB) => {
        const [a, b] = [batchUuidFromKey(callerA, keyA), batchUuidFromKey(callerB, keyB)];
        expect(parseBatchUuid(a)).toBe(a);
        expect(a === b).toBe(callerA === callerB && keyA === keyB);
      }),
    );
  });
});

describe("queue entries", () => {
  test("sort by priority, then by job", () => {
    fc.assert(
      fc.property(priority, priority, job, job, (p, q, a, b) => {
        const [x, y] = [name(paths.queueEntry("Pending", p, a)), name(paths.queueEntry("Pending", q, b))];
        expect(x < y).toBe(p < q || (p === q && a < b));
        expect(parseQueueEntry(x)).toEqual({ priority: p, id: a });
      }),
    );
  });

  test("never get a third digit: a priority past 99 would never be found again", () => {
    expect([105, -3, 99.9, Number.NaN, Number.POSITIVE_INFINITY].map(clampPriority)).toEqual([99, 0, 99, 99, 99]);
    expect(parseQueueEntry("105-jid0000000001")).toBeNull();
  });

  test("of callbacks carry the retry", () => {
    fc.assert(
      fc.property(job, fc.integer({ min: 0, max: 999 }), (id, retry) => {
        expect(parseCallbackName(name(paths.callback(id, retry)))).toEqual({ id, retry });
      }),
    );
  });
});
