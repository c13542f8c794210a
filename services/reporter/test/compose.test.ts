import { describe, expect, test } from "@jest/globals";
import { gunzipSync } from "node:zlib";
import { type Addressed, composeMail } from "../src/compose.ts";
import type { BatchLists, News } from "../src/report.ts";
import { LINES_MAX } from "../src/summary.ts";
import { BATCH, failedJob, NOW_MS, reported } from "./support.ts";

const lists = (parts: Partial<BatchLists>): BatchLists => ({ completed: [], failed: [], deleted: [], ...parts });
const compose = (news: News, number = 1, tag = "", more: Partial<Addressed> = {}) =>
  composeMail({ batch: BATCH, news, number, to: ["anna@example.org"], atMs: NOW_MS, tag, verbose: false, ...more });

describe("the mail about a finished batch", () => {
  test("says in its subject, as Merritt does, whether all went well", () => {
    const good = compose({ kind: "first", lists: lists({ completed: [reported(1)] }) });
    const bad = compose({ kind: "first", lists: lists({ completed: [reported(1)], failed: [failedJob(2)] }) });
    expect(good.subject).toBe(`Ingest: OK -- Submission Processed: ${BATCH.name};`);
    expect(bad.subject).toBe(`Ingest: FAIL -- Submission Processed: ${BATCH.name};`);
    expect(good.name).toBe("bid0000000012.1");
  });

  test.each([
    [[reported(1)], [], "stg", "Submission Processed [Merritt stg]: local-1"],
    [[], [failedJob(2)], "", "Submission Failed: local-2"],
    [[reported(1, { localIds: [], primaryId: "ark:/99999/fk4x" })], [], "", "Submission Processed: ark:/99999/fk4x"],
    [[reported(1), reported(2)], [], "", `Ingest: OK -- Submission Processed: ${BATCH.name};`],
  ])("names the one object of a verbose profile in its subject (%#)", (completed, failed, tag, subject) => {
    const news = { kind: "first", lists: lists({ completed, failed }) } as const;
    expect(compose(news, 1, tag, { verbose: true }).subject).toBe(subject);
  });

  test("says which kind of administrative object it is about", () => {
    const { subject } = compose({ kind: "queued", objects: 1 }, 1, "", { aggregate: "MRT-collection" });
    expect(subject).toBe(`Ingest: OK -- Submission Queued: [MRT-collection] ${BATCH.name};`);
  });

  test("carries the tag of a fleet that is not production, and the number of an update", () => {
    const news = { kind: "update", lists: lists({ completed: [reported(1)] }) } as const;
    expect(compose(news, 3, "stg").subject).toBe(`Ingest [stg]: OK -- Submission Processed: ${BATCH.name}; update 2`);
  });

  test("names each failed object by what the depositor knows, why it failed and what to do", () => {
    const { text } = compose({
      kind: "first",
      lists: lists({ completed: [reported(1), reported(3)], failed: [failedJob(2)] }),
    });
    expect(text).toContain("2 of 3 objects ingested, 1 failed.");
    expect(text).toContain(
      [
        "Failed:",
        "- local-2 · file-2.pdf · (jid0000000002)",
        "    why: DOWNLOAD_FAILED: http://example.org/x: HTTP 404",
        "    what to do: make the file available at its URL; then ask the operators to resume the job, or submit again",
      ].join("\n"),
    );
    expect(text).toContain(["Completed:", "- local-1 · file-1.pdf · stored as version 1 · (jid0000000001)"].join("\n"));
    expect(text).toContain("Status: FAILED\nStatus message: DOWNLOAD_FAILED: http://example.org/x: HTTP 404\n");
  });

  test("tells an object that was stored and recorded from the callback that could not be delivered", () => {
    const message = "CALLBACK_FAILED: given up after 5 attempts: HTTP 500";
    const told = reported(1, { state: "Failed", message, stored: { version: 2, recorded: true } });
    const { text, subject } = compose({ kind: "first", lists: lists({ failed: [told] }) });
    expect(subject).toContain("Ingest: OK --");
    expect(text).toContain("The only object of this submission was ingested; one callback could not be delivered.");
    expect(text).toContain(
      "Ingested, but the callback could not be delivered:\n- local-1 · file-1.pdf · stored as version 2 ·",
    );
    expect(text).not.toMatch(/1 failed|^Failed:/mu);
  });

  test("tells an object that was stored, and not recorded, from one that failed", () => {
    const message = "RECORD_FAILED: no connection";
    const stored = reported(1, { state: "Failed", message, stored: { version: 1, recorded: false } });
    const { text, subject } = compose({ kind: "first", lists: lists({ failed: [stored, failedJob(2)] }) });
    expect(subject).toContain("Ingest: FAIL --");
    expect(text).toContain("0 of 2 objects ingested, 1 stored but not recorded, 1 failed.");
    expect(text).toContain("Stored, but not recorded:\n- local-1 · file-1.pdf · stored as version 1 ·");
    expect(text).toContain("ask the operators, who can resume the job without a new submission");
  });

  test("attaches both lists as JSON, with codes and remedies", () => {
    const { attachments } = compose({
      kind: "first",
      lists: lists({ completed: [reported(1)], failed: [failedJob(2)] }),
    });
    const contents = Object.fromEntries(
      attachments.map(({ filename, content }) => [filename, JSON.parse(content.toString()) as unknown]),
    );
    expect(contents).toMatchObject({
      "failed.json": {
        failedJobs: [{ job: "jid0000000002", localID: "local-2", code: "DOWNLOAD_FAILED", status: "Failed" }],
      },
      "completed.json": { completedJobs: [{ job: "jid0000000001", jobID: "jid-name-1", file: "file-1.pdf" }] },
    });
  });

  test("shows neither passwords nor signed queries, wherever they stand", () => {
    const secret = failedJob(2, "DOWNLOAD_FAILED: https://u:pw@example.org/a?X-Amz-Signature=abc gave 403");
    const mail = compose({
      kind: "first",
      lists: lists({ failed: [{ ...secret, payloadUrl: "https://u:pw@example.org/a?X-Amz-Signature=abc" }] }),
    });
    const whole = [mail.text, mail.html, ...mail.attachments.map(({ content }) => content.toString())].join("\n");
    expect(whole).toContain("example.org/a");
    expect(whole).not.toMatch(/pw@|Signature=abc/);
  });

  test("lets no name become markup, a header or a line of its own", () => {
    const evil = reported(1, {
      localIds: ["<script>alert(1)</script>"],
      file: "a\r\nBcc: eve@example.org",
      title: "\u001b[31mred\u2028x",
    });
    const mail = compose({ kind: "first", lists: lists({ completed: [evil] }) });
    expect(mail.html).toContain("&lt;script&gt;");
    expect(mail.html).not.toContain("<script>");
    expect(mail.text).toContain("a Bcc: eve@example.org");
    expect(mail.text).not.toMatch(/^Bcc:|[\r\u001b\u2028]/m);
  });

  test("lists a hundred objects of each kind and says where the others are", () => {
    const many = Array.from({ length: LINES_MAX + 5 }, (_, i) => reported(i + 1));
    const { text } = compose({ kind: "first", lists: lists({ completed: many }) });
    expect(text.match(/^- /gm)).toHaveLength(LINES_MAX);
    expect(text).toContain("… and 5 more, all of them in completed.json");
  });

  test("packs a list that mail servers would refuse, and loses nothing of it", () => {
    const many = Array.from({ length: 40_000 }, (_, i) => reported(i + 1));
    const [attached] = compose({ kind: "first", lists: lists({ completed: many }) }).attachments;
    expect(attached).toMatchObject({ filename: "completed.json.gz", contentType: "application/gzip" });
    expect(attached!.content.length).toBeLessThan(2_000_000);
    const { completedJobs } = JSON.parse(gunzipSync(attached!.content).toString()) as { completedJobs: unknown[] };
    expect(completedJobs).toHaveLength(40_000);
  });

  test("speaks of an update as what happened since, and of what still fails", () => {
    const { text, attachments } = compose(
      {
        kind: "update",
        lists: lists({
          completed: [reported(1)],
          failed: [failedJob(2)],
          deleted: [reported(3, { state: "Deleted" })],
        }),
      },
      2,
    );
    expect(text).toContain(
      "Since the last report 1 object was ingested and 1 object was deleted; 1 object still failed.",
    );
    expect(text).toContain("Still failed:\n- local-2");
    expect(text).toContain("Completed since the last report:\n- local-1");
    expect(text).toContain("Deleted since the last report:\n- local-3");
    expect(attachments.map(({ filename }) => filename)).toEqual(["failed.json", "completed.json"]);
  });

  test("says of a batch that never became jobs why, and what to do", () => {
    const mail = compose({ kind: "unexpanded", message: "MANIFEST_CORRUPT: row 3: no file name" }, 0);
    expect(mail).toMatchObject({
      name: "bid0000000012.0",
      attachments: [],
      subject: `Ingest: FAIL -- Submission Processed: ${BATCH.name};`,
    });
    expect(mail.text).toContain("Nothing of this submission was ingested");
    expect(mail.text).toContain("MANIFEST_CORRUPT: row 3: no file name");
    expect(mail.text).toContain("correct the manifest and submit again");
  });

  test("is the same mail when the same report is told again", () => {
    const news = { kind: "first", lists: lists({ completed: [reported(1)], failed: [failedJob(2)] }) } as const;
    expect(compose(news)).toEqual(compose(news));
  });
});
