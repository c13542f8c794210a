import { describe, expect, test } from "@jest/globals";
import { FAULT_CODES, type FaultCode, type IoFault } from "@sluice/safe-io";
import { byteLimit } from "../src/byte-limit.ts";
import { type FileVerdict, verdictOnFault } from "../src/file-verdict.ts";
import { Tally } from "../src/tally.ts";

const fault = (code: FaultCode, more: Partial<IoFault> = {}): IoFault => ({
  code,
  message: "http://host/a: trouble",
  retryable: false,
  ...more,
});

describe("what a fault means for the job", () => {
  test.each([
    ["EGRESS_REFUSED", "URL_REFUSED"],
    ["NAME_REFUSED", "NAME_REFUSED"],
    ["LINK_REFUSED", "NAME_REFUSED"],
    ["ALREADY_THERE", "NAME_REFUSED"],
    ["DIGEST_MISMATCH", "DIGEST_MISMATCH"],
    ["SIZE_MISMATCH", "SIZE_MISMATCH"],
    ["TOO_LARGE", "DOWNLOAD_FAILED"],
    ["TOO_MANY_REDIRECTS", "DOWNLOAD_FAILED"],
    ["TLS_FAILED", "DOWNLOAD_FAILED"],
    ["NOT_FOUND", "DOWNLOAD_FAILED"],
  ] as const)("%s fails it as %s, with the file named", (code, as) => {
    expect(verdictOnFault("x/a.txt", fault(code), false)).toEqual({
      kind: "never",
      code: as,
      message: '"x/a.txt": http://host/a: trouble',
    });
  });

  test("more bytes than declared is a wrong size", () => {
    expect(verdictOnFault("a", fault("TOO_LARGE"), true)).toMatchObject({ kind: "never", code: "SIZE_MISMATCH" });
  });

  test("a size or digest that is wrong is final, even where the transfer was worth another try", () => {
    expect(verdictOnFault("a", fault("SIZE_MISMATCH", { retryable: true }), true)).toMatchObject({ kind: "never" });
  });

  test("an error that passes is tried again, when the host asks for it", () => {
    const busy = fault("HTTP_STATUS", { status: 503, retryable: true, retryAfterMs: 7_000 });
    expect(verdictOnFault("a", busy, false)).toMatchObject({ kind: "again", delayMs: 7_000 });
    const reset = fault("CONNECTION_LOST", { retryable: true });
    expect(verdictOnFault("a", reset, false)).toEqual({ kind: "again", message: '"a": http://host/a: trouble' });
  });

  test("a full disk is nobody's fault", () => {
    expect(verdictOnFault("a", fault("NO_SPACE", { retryable: true }), false)).toMatchObject({ kind: "disk-full" });
  });

  test("every fault means something, and only what we did ourselves is no trouble to tell", () => {
    for (const code of Object.keys(FAULT_CODES) as FaultCode[])
      expect(verdictOnFault("a", fault(code), false).kind === "aborted").toBe(code === "ABORTED");
  });
});

describe("how large a file may get", () => {
  const limits = { fileMaxBytes: 1_000_000, overrunFactor: 10, overrunFloorBytes: 5_000 };

  test("is bounded by the estimate, roughly where files are small", () => {
    expect(byteLimit(2_000, limits)).toBe(20_000);
    expect(byteLimit(1, limits)).toBe(5_000);
  });

  test("is bounded by the general limit, which alone holds when nothing was estimated", () => {
    expect(byteLimit(900_000, limits)).toBe(1_000_000);
    expect(byteLimit(0, limits)).toBe(1_000_000);
  });
});

describe("the tally of a job", () => {
  const never: FileVerdict = { kind: "never", code: "DIGEST_MISMATCH", message: '"b": wrong' };
  const again: FileVerdict = { kind: "again", message: '"a": reset', delayMs: 5 };
  const full: FileVerdict = { kind: "disk-full", message: '"c": ENOSPC' };

  test("adds up files and bytes", () => {
    const tally = new Tally();
    expect(tally.add("a", { kind: "got", bytes: 3 })).toBe("go-on");
    expect(tally.add("b", { kind: "got", bytes: 4 })).toBe("go-on");
    expect([tally.files, tally.bytes, tally.trouble(1)]).toEqual([2, 7, undefined]);
  });

  test("shows files under way, and never less in all than is there", () => {
    const tally = new Tally();
    tally.add("a", { kind: "got", bytes: 10 });
    tally.progressOf("b", 5);
    expect(tally.progress(100)).toMatchObject({ doneBytes: 15, totalBytes: 100 });
    expect(tally.progress(12)).toMatchObject({ doneBytes: 15, totalBytes: 15 });
    expect(tally.progress(0)).toMatchObject({ doneBytes: 15, totalBytes: null });
    tally.add("b", { kind: "got", bytes: 6 });
    expect(tally.progress(0)).toMatchObject({ doneBytes: 16 });
  });

  test.each([[[never, full, again]], [[again, full, never]], [[full, never, { kind: "aborted" } as const]]])(
    "fails for what cannot be mended, whatever else happened",
    (verdicts) => {
      const tally = new Tally();
      for (const verdict of verdicts) tally.add("x", verdict);
      expect(tally.trouble(1)).toEqual({ kind: "fail", code: "DIGEST_MISMATCH", message: '"b": wrong' });
    },
  );

  test("waits for room before it tries again", () => {
    const tally = new Tally();
    tally.add("a", again);
    expect(tally.add("c", full)).toBe("abort");
    expect(tally.trouble(60_000)).toMatchObject({ kind: "snooze", delayMs: 60_000 });
  });

  test("goes on after a passing failure, names the first and counts the rest", () => {
    const tally = new Tally();
    expect(tally.add("a", again)).toBe("go-on");
    tally.add("b", { kind: "again", message: '"b": timeout' });
    expect(tally.trouble(1)).toEqual({
      kind: "retry",
      code: "DOWNLOAD_FAILED",
      message: '"a": reset (and 1 more)',
      delayMs: 5,
    });
  });

  test("loses patience with a host at the tenth passing failure", () => {
    const tally = new Tally();
    const answers = Array.from({ length: 10 }, (_, index) => tally.add(String(index), again));
    expect(answers.indexOf("stop")).toBe(9);
  });
});
