import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  BATCH_STATES,
  EVENT_KINDS,
  formatTimestamp,
  JOB_STATES,
  parseTimestamp,
  type RecordType,
  records,
} from "../src/index.ts";

const text = fc.string({ unit: "grapheme" });
const count = fc.nat();
const jobState = fc.constantFrom(...JOB_STATES);
const time = fc
  .date({ min: new Date("1970-01-01"), max: new Date("2200-01-01"), noInvalidDate: true })
  .map((d) => formatTimestamp(d.getTime()));

function survives<T>(record: RecordType<T>, values: fc.Arbitrary<T>): void {
  fc.assert(
    fc.property(values, (value) => {
      expect(record.decode(record.encode(value))).toEqual({ ok: true, value });
    }),
  );
}

describe("every record survives the round trip", () => {
  test("status of a job and of a batch", () => {
    survives(
      records.jobStatus,
      fc.record({
        status: jobState,
        last_modified: time,
        last_successful_status: fc.option(jobState),
        retry_count: count,
        message: text,
      }),
    );
    survives(
      records.batchStatus,
      fc.record({ status: fc.constantFrom(...BATCH_STATES), last_modified: time, message: text }),
    );
  });

  test("no ARK is written as CDL's libraries write it: they break on null", () => {
    const identifiers = { note: "kept", primary_id: null, local_id: ["loc-1"] };
    expect(JSON.parse(records.identifiers.encode(identifiers).toString())).toEqual({ ...identifiers, primary_id: "" });
  });

  test("numbers, ids and identifiers", () => {
    for (const record of [records.priority, records.spaceNeeded, records.counter]) {
      survives(record, fc.nat({ max: 999_999_999_999 }));
    }
    survives(
      records.identifiers,
      fc.record({ primary_id: fc.option(text.filter((t) => t !== "")), local_id: fc.array(text) }),
    );
    survives(records.fleetIds, fc.record({ batch: count, job: count }));
    survives(records.expansion, fc.record({ rows: count, created: count, digest: text, reports: count, op: text }));
  });

  test("lock, hold, worker, callback, audit, report and history", () => {
    survives(records.lock, fc.record({ owner: text, stage: text, claim: text, since: time }));
    survives(
      records.callback,
      fc.record({
        job: text,
        batch: text,
        outcome: fc.constant("FAILED" as const),
        retry: count,
        message: text,
        at: time,
      }),
    );
    survives(records.auditHead, fc.record({ number: count, hash: text }));
    survives(records.key, fc.record({ batch: text, request_digest: text }));
    survives(
      records.statusReport,
      fc.record({ last_modified: time, failed_jobs: fc.array(text), successful_jobs: fc.array(text) }),
    );
    survives(
      records.fleetJob,
      fc.record({
        attempts: count,
        events: fc.array(fc.tuple(text, count, fc.constantFrom(...EVENT_KINDS), jobState, text), { maxLength: 12 }),
      }),
    );
  });
});

describe("wire bytes", () => {
  test("of a job status are exactly the five keys of the format, in order", () => {
    const bytes = records.jobStatus.encode({
      status: "Downloading",
      last_modified: "2026-11-16 04:00:00 +0000",
      last_successful_status: "Provisioning",
      retry_count: 1,
      message: "",
    });
    expect(bytes.toString()).toBe(
      '{"status":"Downloading","last_modified":"2026-11-16 04:00:00 +0000","last_successful_status":"Provisioning","retry_count":1,"message":""}',
    );
  });

  test("of numbers are plain decimal text without padding", () => {
    expect(records.priority.encode(5).toString()).toBe("5");
    expect(records.spaceNeeded.encode(1_000_000_000_000).toString()).toBe("1000000000000");
  });
});

describe("reading is tolerant", () => {
  const decode = <T>(record: RecordType<T>, value: unknown) => record.decode(Buffer.from(JSON.stringify(value)));

  test("of the seeds' spelling: lower case, update-reporting, last_modification_date, nil", () => {
    expect(
      decode(records.jobStatus, {
        status: "estimating",
        last_successful_status: null,
        last_modification_date: "now",
        retry_count: 0,
      }),
    ).toEqual({
      ok: true,
      value: { status: "Estimating", last_modified: "now", last_successful_status: null, retry_count: 0, message: "" },
    });
    expect(decode(records.batchStatus, { status: "update-reporting", last_modified: "now" })).toMatchObject({
      ok: true,
      value: { status: "UpdateReporting" },
    });
  });

  test("of the names that CDL's ingest service stores", () => {
    expect(
      decode(records.jobConfiguration, { profile: "p_content", title: "T", digestType: "md5", update: true }),
    ).toMatchObject({
      ok: true,
      value: { profile_name: "p_content", erc_what: "T", digest_type: "md5", update: true },
    });
    expect(decode(records.identifiers, { primary_id: "", local_id: [] })).toMatchObject({
      value: { primary_id: null },
    });
    expect(decode(records.identifiers, { primary_id: null })).toMatchObject({ value: { primary_id: null } });
    expect(decode(records.identifiers, { primary: "555", local_id: "loc1" })).toMatchObject({
      ok: true,
      value: { primary_id: "555", local_id: ["loc1"] },
    });
    expect(records.spaceNeeded.decode(Buffer.from("-1"))).toEqual({ ok: true, value: 0 });
  });

  test("but a state nobody knows, no JSON and no number are named as what they are", () => {
    expect(decode(records.jobStatus, { status: "Boring" })).toEqual({
      ok: false,
      problem: "job status.status: no job state: Boring",
    });
    expect(records.batchStatus.decode(Buffer.from("{"))).toEqual({ ok: false, problem: "batch status: not JSON" });
    expect(records.priority.decode(Buffer.from("high"))).toEqual({ ok: false, problem: 'priority: "high"' });
  });
});

test("a timestamp keeps its second, whatever offset it was written with", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 7_000_000_000 }), (s) =>
      expect(parseTimestamp(formatTimestamp(s * 1000))).toBe(s * 1000),
    ),
  );
  expect(parseTimestamp("2026-11-16 04:00:00 -0800")).toBe(Date.parse("2026-11-16T12:00:00Z"));
  expect(parseTimestamp("yesterday")).toBeNull();
});
