import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { fieldsOf, formOf, problemOf, startApp } from "./http-support.ts";
import {
  batch,
  batchContext,
  batchManifest,
  makeCleanups,
  objectManifest,
  profileOf,
  submission as aSubmission,
  WITHOUT_QUOTAS,
} from "./support.ts";
import { startBatchStage } from "../src/duties/start-batch.ts";
import { expandBatchStage } from "../src/duties/expand-batch.ts";
import type { JobSpec, Submission } from "@sluice/queue-core";
import type { Payloads } from "../src/ports.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const FIELDS = { profile: "demo_content", responseForm: "json" };
const FIRST = "bid0000000100";

async function submitTo(path: string, form: FormData) {
  const app = await startApp(cleanups);
  const response = await fetch(`${app.base}/poster/${path}`, { method: "POST", body: form });
  const created = [...app.queue.created.values()].at(-1) ?? { submission: aSubmission() };
  return { ...app, response, submission: created.submission };
}

describe("the verb of the path", () => {
  test.each([
    ["submit", "add"],
    ["add", "add"],
    ["update", "update"],
  ])("%s is stored as %s", async (verb, mode) => {
    const { response, submission } = await submitTo(verb, formOf(FIELDS));
    const state = (await response.json()) as Record<string, Record<string, unknown>>;
    expect([response.status, submission.submission_mode]).toEqual([200, mode]);
    expect(state["bat:batchState"]!["bat:updateFlag"]).toBe(mode === "update");
  });

  test("is part of what was asked for: the same key with another verb is another request", async () => {
    const app = await startApp(cleanups);
    const send = (verb: string) =>
      fetch(`${app.base}/poster/${verb}`, {
        method: "POST",
        body: formOf(FIELDS),
        headers: { "idempotency-key": "k" },
      });
    expect([(await send("add")).status, (await send("submit")).status, (await send("update")).status]).toEqual([
      200, 200, 422,
    ]);
  });

  test("that is none is not there", async () => {
    expect((await submitTo("replace", formOf(FIELDS))).response.status).toBe(404);
  });
});

describe("the object in the path", () => {
  test.each(["submit", "add", "update"])("is the primary id of a submission to %s", async (verb) => {
    const { response, submission } = await submitTo(`${verb}/ark:/99999/fk4abc`, formOf(FIELDS));
    expect([response.status, submission["primary_id"]]).toEqual([200, "ark:/99999/fk4abc"]);
  });

  test.each(["update/ark%3A/99999/fk4abc", "update/ark/99999/fk4abc"])("may be spelled as in %s", async (path) => {
    expect((await submitTo(path, formOf(FIELDS))).submission["primary_id"]).toBe("ark:/99999/fk4abc");
  });

  test("takes precedence over an ERC, and must not contradict the form", async () => {
    const erc = "erc:\nwhere: ark:/99999/fk4other";
    expect((await submitTo("update/ark:/99999/fk4abc", formOf({ ...FIELDS, erc }))).submission).toMatchObject({
      primary_id: "ark:/99999/fk4abc",
    });
    const wrong = await submitTo(
      "update/ark:/99999/fk4abc",
      formOf({ ...FIELDS, primaryIdentifier: "ark:/99999/fk4other" }),
    );
    expect(fieldsOf(await problemOf(wrong.response))).toEqual(["primaryIdentifier"]);
  });

  test("that is no ARK is refused", async () => {
    const { response } = await submitTo("update/doi:/10.5/x", formOf(FIELDS));
    expect(fieldsOf(await problemOf(response))).toEqual(["primaryIdentifier"]);
  });
});

const severalFiles = (files: readonly (readonly [string, string])[], fields: Record<string, string> = FIELDS) => {
  const form = formOf(fields, null);
  for (const [name, text] of files) form.append("file", new Blob([text]), name);
  return form;
};

describe("several files in one form", () => {
  const MANIFEST = objectManifest(["http://content.example/a | | | | | a"]);

  test("are stored each under its name, a name that clashes behind a UUID", async () => {
    const form = severalFiles([
      ["a.txt", "one"],
      ["a.txt", "two"],
      ["b.zip", "three"],
    ]);
    const { root, submission } = await submitTo("submit", form);
    const uploads = submission["uploads"] as { name: string; type: string }[];
    expect(uploads.map(({ name, type }) => [name.replace(/^[0-9a-f-]{36}-/, "UUID-"), type])).toEqual([
      ["a.txt", "file"],
      ["UUID-a.txt", "file"],
      ["b.zip", "container"],
    ]);
    const folder = join(root, FIRST, "uploads");
    expect((await readdir(folder)).sort()).toEqual(uploads.map(({ name }) => name).sort());
    expect(await readFile(join(folder, uploads[1]!.name), "utf8")).toBe("two");
  });

  test("become a job each, of their own types, with the form's metadata", async () => {
    const form = severalFiles(
      [
        ["a.txt", "one"],
        ["m.checkm", MANIFEST],
      ],
      { ...FIELDS, title: "Both" },
    );
    const { submission } = await submitTo("submit", form);
    const jobs = await expand(submission);
    expect(jobs.map(({ configuration: { payload_url, payload_type } }) => [payload_url, payload_type])).toEqual([
      ["upload:a.txt", "file"],
      ["upload:m.checkm", "manifest"],
    ]);
    expect(jobs.map(({ metadata }) => metadata?.erc_what)).toEqual(["Both", "Both"]);
    expect(jobs[0]!.configuration["uploads"]).toBeUndefined();
  });

  test("go on at the cursor when the first of them are jobs already", async () => {
    const form = severalFiles(["a", "b", "c"].map((name) => [name, name] as const));
    const { submission } = await submitTo("submit", form);
    const jobs = await expand(submission, 2);
    expect(jobs.map(({ configuration }) => configuration.payload_name)).toEqual(["c"]);
  });

  test.each([
    ["digestValue", { digestType: "md5", digestValue: "0".repeat(32) }, ["digestType", "digestValue"]],
    ["localIdentifier", { localIdentifier: "one" }, ["localIdentifier"]],
    ["primaryIdentifier", { primaryIdentifier: "ark:/99999/fk4a" }, ["primaryIdentifier"]],
    ["filename", { filename: "c.txt" }, ["filename"]],
    ["size", { size: "1" }, ["size"]],
    ["a batch type", { type: "batch-manifest" }, ["type", "type"]],
  ])("take no %s: it could mean one of them only", async (_what, extra, fields) => {
    const files = [
      ["a.txt", "1"],
      ["b.txt", "2"],
    ] as const;
    const { response, queue } = await submitTo("submit", severalFiles(files, { ...FIELDS, ...(extra as object) }));
    expect(fieldsOf(await problemOf(response))).toEqual(fields);
    expect(queue.created.size).toBe(0);
  });

  test("do not include a batch manifest, found from its content", async () => {
    const list = batchManifest("batch-manifest", ["http://content.example/a | | | | | a"]);
    const { response } = await submitTo(
      "submit",
      severalFiles([
        ["a.txt", "1"],
        ["l.checkm", list],
      ]),
    );
    expect(fieldsOf(await problemOf(response))).toEqual(["type"]);
  });

  test("are at most a hundred", async () => {
    const files = Array.from({ length: 101 }, (_, i) => [`${i}.txt`, "x"] as const);
    expect(fieldsOf(await problemOf((await submitTo("submit", severalFiles(files))).response))).toEqual(["file"]);
  });

  test("sent twice under one key are one batch, clashing names and all", async () => {
    const app = await startApp(cleanups);
    const form = () =>
      severalFiles([
        ["a.txt", "one"],
        ["a.txt", "two"],
      ]);
    const first = await app.postForm(form(), { "idempotency-key": "k" });
    const second = await app.postForm(form(), { "idempotency-key": "k" });
    expect([first.status, second.status, app.queue.created.size]).toEqual([200, 200, 1]);
  });
});

/** What the duties make of a submission, from this row on; they need no file for it. */
async function expand(submission: Submission, created = 0): Promise<readonly JobSpec[]> {
  const payloads = null as unknown as Payloads;
  const pending = batch({ submission });
  const started = await startBatchStage({
    payloads,
    profileOf: profileOf(),
    rules: { mode: "default", maxBytes: 1_000 },
  }).handle(pending, batchContext(pending));
  if (started.kind !== "start") throw new Error(started.kind);
  const { rows, digest } = started;
  const of = batch({ submission, state: "Processing", expansion: { rows, created, digest, reports: 0, op: "" } });
  const jobs: JobSpec[] = [];
  const ctx = batchContext(of, {
    addJobs: (loaded, specs) => {
      jobs.push(...specs);
      return Promise.resolve({ kind: "added", loaded });
    },
  });
  await expandBatchStage({ payloads, profileOf: profileOf(), quotas: WITHOUT_QUOTAS }).handle(of, ctx);
  return jobs;
}
