import { describe, expect, test } from "@jest/globals";
import { codeOfMessage, ERROR_CODES, failureMessage, givenUpMessage, isResumable, remedyFor } from "../src/index.ts";

const CODES = Object.entries(ERROR_CODES);

describe("what to do about a failure", () => {
  test.each(CODES)("of %s is worded for each reader", (code, row) => {
    const message = failureMessage(code as keyof typeof ERROR_CODES, "why");
    expect(remedyFor(message, "depositor")).toBe(row.depositor);
    expect(remedyFor(message, "operator")).toBe(row.operator);
    expect(row.depositor).not.toBe(row.operator);
  });

  test.each(CODES)("of %s asks no depositor to resume: the API refuses them", (_code, { depositor }) => {
    expect(depositor.replaceAll(/(?:ask the )?operators(?:, who can| to) resume/gu, "")).not.toMatch(
      /\bresume\b|profile,|allow|`/u,
    );
  });

  test.each(CODES.filter(([, { resumable }]) => !resumable))(
    "of %s tells operators that nothing but a new submission helps",
    (_code, { operator }) => expect(operator).toContain("only a new submission helps"),
  );

  test("is unknown for a message without a code of ours", () => {
    expect(remedyFor("Ingest failed: disk", "operator")).toBeNull();
  });
});

describe("a job that was given up", () => {
  const message = failureMessage("DOWNLOAD_FAILED", givenUpMessage("a.txt: 503", 5));

  test("keeps its cause as its code, and says beside it that it was given up", () => {
    expect(message).toBe("DOWNLOAD_FAILED: given up after 5 attempts: a.txt: 503");
    expect(codeOfMessage(message)).toBe("DOWNLOAD_FAILED");
    expect(givenUpMessage("no", 1)).toBe("given up after 1 attempt: no");
  });

  test("says so however long the message is", () => {
    const long = failureMessage("DOWNLOAD_FAILED", givenUpMessage("x".repeat(5_000), 5));
    expect(long).toHaveLength(2_000);
    expect(long).toContain("given up after 5 attempts");
  });

  test("by an earlier version is read by its cause", () => {
    const old = "GIVEN_UP: after 5 attempts: PAYLOAD_DIGEST_MISMATCH: no";
    expect(codeOfMessage(old)).toBe("PAYLOAD_DIGEST_MISMATCH");
    expect(isResumable(old)).toBe(false);
    expect(codeOfMessage("GIVEN_UP: no")).toBeNull();
  });
});
