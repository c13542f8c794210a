import { createHash } from "node:crypto";
import { readdir, readFile, mkdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { batchId, batchUuidFromKey } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import { fieldsOf, formOf, problemOf, startApp } from "./http-support.ts";
import { fileBatchManifest, makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const FIELDS = { profile: "demo_content", submitter: "ada/Ada Lovelace", responseForm: "json" };
/** The first number of the queue in memory. */
const FIRST = "bid0000000100";

type App = Awaited<ReturnType<typeof startApp>>;
const submissionOf = ({ queue }: App) => [...queue.created.values()].at(-1)!.submission;
/** What is left in the folder where uploads land. */
const leftovers = (root: string): Promise<string[]> => readdir(join(root, ".incoming")).catch(() => []);
/** It is emptied after the answer: the depositor need not wait for that. */
const emptied = (root: string) =>
  waitFor(async () => (await leftovers(root)).length === 0, { what: "an empty folder for uploads" });

describe("POST /poster/submit", () => {
  test("puts the upload into the batch's folder, byte for byte, and answers with a batchState", async () => {
    const app = await startApp(cleanups);
    const response = await app.postForm(formOf(FIELDS));
    const body = (await response.json()) as Record<string, Record<string, unknown>>;
    const [uuid] = app.queue.created.keys();
    expect(response.status).toBe(200);
    expect(response.headers.get("bid")).toBe(uuid);
    expect(response.headers.get("hostname")).toBe("intake.example");
    expect(body["bat:batchState"]).toMatchObject({
      "bat:batchID": uuid,
      "bat:updateFlag": false,
      "bat:batchStatus": "QUEUED",
      "bat:userAgent": "ada/Ada Lovelace",
      "bat:submissionDate": "2026-01-02T03:04:05Z",
      "bat:batchProfile": {
        "bat:profileID": "demo_content",
        "bat:contactsEmail": { "bat:notification": { "bat:contactEmail": "ada@example.org" } },
      },
    });
    expect(await readFile(join(app.root, FIRST, "uploads", "object.txt"), "utf8")).toBe("hello");
    expect(submissionOf(app)).toMatchObject({
      payload_url: "upload:object.txt",
      payload_name: "object.txt",
      payload_size: 5,
      type: "file",
    });
    await emptied(app.root);
  });

  test("keeps every field of Merritt's form", async () => {
    const app = await startApp(cleanups);
    await app.postForm(
      formOf({
        ...FIELDS,
        type: "file",
        title: "Notes",
        creator: "Ada",
        date: "1843",
        localIdentifier: "localid;localid;localidtwo",
        primaryIdentifier: "ark:/99999/fk4abc",
        note: "careful",
        notification: "ada@example.org",
        notificationFormat: "xml",
        "DC.subject": "analysis",
        "DataCite.resourceType": "Text",
        retainTargetURL: "true",
        somethingElse: "ignored",
      }),
    );
    expect(submissionOf(app)).toMatchObject({
      erc_what: "Notes",
      erc_who: "Ada",
      erc_when: "1843",
      local_id: ["localid", "localidtwo"],
      primary_id: "ark:/99999/fk4abc",
      note: "careful",
      notification: "ada@example.org",
      notificationFormat: "xml",
      DCsubject: "analysis",
      DataCiteResourceType: "Text",
      retainTargetURL: "true",
    });
  });

  test("fills what the form leaves open from its erc field", async () => {
    const app = await startApp(cleanups);
    const erc = "erc:\nwho: Ada\nwhat: From the ERC\nwhere: ark:/99999/fk4erc\nwhere: local-1";
    await app.postForm(formOf({ ...FIELDS, title: "From the form", erc }));
    expect(submissionOf(app)).toMatchObject({
      erc_what: "From the form",
      erc_who: "Ada",
      primary_id: "ark:/99999/fk4erc",
      local_id: ["local-1"],
    });
  });

  test("finds the type from the content when it is not given", async () => {
    const app = await startApp(cleanups);
    const text = fileBatchManifest(["http://content.example/a | | | | | a"]);
    await app.postForm(formOf(FIELDS, { name: "list.checkm", text }));
    expect(submissionOf(app).type).toBe("single-file-batch-manifest");
  });

  test("answers XML by default, and ANVL when the client accepts only that", async () => {
    const { postForm } = await startApp(cleanups);
    const { responseForm: _json, ...fields } = FIELDS;
    const xml = await postForm(formOf({ ...fields, submitter: "a<b & c" }));
    const anvl = await postForm(formOf(fields), { accept: "text/x-anvl" });
    expect(await xml.text()).toMatch(
      /^<\?xml .*<bat:batchState xmlns:bat="[^"]+"><bat:batchID>bid-.*<bat:userAgent>a&lt;b &amp; c<\/bat:userAgent>/s,
    );
    expect(await anvl.text()).toMatch(/^batchID:\s+bid-.*\nbatchStatus:\s+QUEUED$/ms);
  });

  test("takes the name of the filename field before that of the file part", async () => {
    const app = await startApp(cleanups);
    await app.postForm(formOf({ ...FIELDS, filename: "other.txt" }));
    expect(await readdir(join(app.root, FIRST, "uploads"))).toEqual(["other.txt"]);
  });

  test.each(["a b+c%20d.txt", "שלום.txt", "🎈 é.txt", "%2e%2e", "a|b;c.txt"])(
    "stores the name %j byte for byte",
    async (name) => {
      const app = await startApp(cleanups);
      const response = await app.postForm(formOf({ ...FIELDS, filename: name }));
      expect(response.status).toBe(200);
      expect(await readdir(join(app.root, FIRST, "uploads"))).toEqual([name]);
    },
  );

  test.each(["../a", "/etc/passwd", "a/b", "..", "a\\b", "a\u0000b", "a\nb", "x".repeat(300)])(
    "refuses the name %j and leaves nothing behind",
    async (name) => {
      const app = await startApp(cleanups);
      const response = await app.postForm(formOf({ ...FIELDS, filename: name }));
      expect(response.status).toBe(400);
      expect(fieldsOf(await problemOf(response))).toEqual(["filename"]);
      expect(await readdir(app.root)).toEqual([".incoming"]);
      await emptied(app.root);
    },
  );
});

describe("size and digest", () => {
  const digest = { digestType: "SHA-1", digestValue: createHash("sha1").update("hello").digest("hex").toUpperCase() };

  test.each(["file-first", "file-last"] as const)("are checked on the way in, %s", async (order) => {
    const { postForm, queue, root } = await startApp(cleanups);
    const good = await postForm(formOf({ ...FIELDS, ...digest, size: "5" }, undefined, order));
    const bad = await postForm(formOf({ ...FIELDS, ...digest }, { name: "a", text: "hullo" }, order));
    expect([good.status, bad.status]).toEqual([200, 422]);
    expect((await problemOf(bad)).code).toBe("DIGEST_MISMATCH");
    expect(queue.created.size).toBe(1);
    await emptied(root);
  });

  test("a size that is not the file's is refused", async () => {
    const { postForm } = await startApp(cleanups);
    const response = await postForm(formOf({ ...FIELDS, size: "6" }));
    expect(fieldsOf(await problemOf(response))).toEqual(["size"]);
  });

  test("a file above the bound is refused and leaves nothing behind", async () => {
    const { postForm, root } = await startApp(cleanups, 1_000);
    const response = await postForm(formOf(FIELDS, { name: "a", text: "x".repeat(200_000) }));
    expect(response.status).toBe(413);
    await emptied(root);
  });
});

describe("what is no submission", () => {
  test.each([
    ["without a file", formOf(FIELDS, null), "file"],
    ["without a profile", formOf({ responseForm: "json" }), "profile"],
    ["of a form that we do not speak", formOf({ ...FIELDS, responseForm: "rdf" }), "responseForm"],
    ["with an ERC that is none", formOf({ ...FIELDS, erc: "who is it" }), "erc"],
    ["of a type that nobody knows", formOf({ ...FIELDS, type: "sculpture" }), "type"],
  ])("%s is refused and named", async (_what, form, field) => {
    const { postForm, queue } = await startApp(cleanups);
    const response = await postForm(form);
    expect(response.status).toBe(400);
    expect(fieldsOf(await problemOf(response))).toEqual([field]);
    expect(queue.created.size).toBe(0);
  });

  test("a field that is there twice, or a file under another name, is refused", async () => {
    const { postForm } = await startApp(cleanups);
    const twice = formOf(FIELDS);
    twice.append("profile", "another_content");
    const two = formOf(FIELDS);
    two.append("attachment", new Blob(["more"]), "more.txt");
    expect(fieldsOf(await problemOf(await postForm(twice)))).toEqual(["profile"]);
    expect(fieldsOf(await problemOf(await postForm(two)))).toEqual(["attachment"]);
  });

  test.each([
    ["no multipart at all", "application/json", "{}", 415],
    ["multipart without a boundary", "multipart/form-data", "", 415],
    ["a form that is cut off", "multipart/form-data; boundary=x", "--x\r\ncontent-disposition: form-data", 400],
  ])("%s is refused", async (_what, type, body, status) => {
    const { base } = await startApp(cleanups);
    const response = await fetch(`${base}/poster/submit`, { method: "POST", body, headers: { "content-type": type } });
    expect(response.status).toBe(status);
    await problemOf(response);
  });

  test("a client that goes away in the middle of its upload leaves nothing behind", async () => {
    const { port, root, queue } = await startApp(cleanups);
    const headers = { "content-type": "multipart/form-data; boundary=x", "content-length": "1000000" };
    const upload = request({ port, host: "127.0.0.1", path: "/poster/submit", method: "POST", headers });
    upload.on("error", () => undefined);
    upload.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n' + "x".repeat(50_000));
    await waitFor(async () => (await leftovers(root)).length === 1);
    upload.destroy();
    await emptied(root);
    expect(queue.created.size).toBe(0);
  });
});

describe("a form with an Idempotency-Key", () => {
  test("that is sent twice makes one batch and one folder", async () => {
    const app = await startApp(cleanups);
    const first = await app.postForm(formOf(FIELDS), { "idempotency-key": "k1" });
    const second = await app.postForm(formOf(FIELDS), { "idempotency-key": "k1" });
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect([...app.queue.created.keys()]).toEqual([batchUuidFromKey("anonymous", "k1")]);
    expect((await readdir(app.root)).filter((name) => name.startsWith("bid"))).toEqual([FIRST]);
  });

  test("with another file under it is refused", async () => {
    const app = await startApp(cleanups);
    await app.postForm(formOf(FIELDS), { "idempotency-key": "k1" });
    const other = formOf(FIELDS, { name: "object.txt", text: "hallo" });
    expect((await app.postForm(other, { "idempotency-key": "k1" })).status).toBe(422);
    expect(await readFile(join(app.root, FIRST, "uploads", "object.txt"), "utf8")).toBe("hello");
  });
});

describe("when the queue does not answer", () => {
  test("an upload is kept with its submission in the journal, and answered as ever", async () => {
    const app = await startApp(cleanups);
    app.queue.mood = "away";
    const response = await app.postForm(formOf({ ...FIELDS, responseForm: "json" }));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ "bat:batchState": { "bat:batchStatus": "QUEUED" } });
    expect(response.headers.get("BID")).toMatch(/^bid-[0-9a-f-]{36}$/);
    const kept = (await readdir(app.root, { recursive: true })).filter((name) => name.endsWith("/uploads/object.txt"));
    expect(kept).toEqual([expect.stringMatching(/^\.journaled\//)]);
    await emptied(app.root);
  });

  test("an upload is refused for now and removed when the journal is full", async () => {
    const app = await startApp(cleanups, 1_000_000, 1);
    app.queue.mood = "away";
    expect((await app.postForm(formOf(FIELDS))).status).toBe(200);
    const before = await readdir(app.root, { recursive: true });
    const response = await app.postForm(formOf(FIELDS));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).not.toBeNull();
    await emptied(app.root);
    expect(await readdir(app.root, { recursive: true })).toEqual(before);
  });

  test("an upload whose batch may have been created keeps its folder", async () => {
    const app = await startApp(cleanups);
    app.queue.mood = "answer-lost";
    expect((await app.postForm(formOf(FIELDS))).status).toBe(200);
    expect(app.journal.stats().records).toBe(1);
    expect(await readFile(join(app.root, FIRST, "uploads", "object.txt"), "utf8")).toBe("hello");
  });
});

test("a folder that stands under a number to come is left alone: the batch takes the next number", async () => {
  const app = await startApp(cleanups);
  await mkdir(join(app.root, FIRST, "uploads"), { recursive: true });
  await writeFile(join(app.root, FIRST, "uploads", "old.txt"), "old");
  const response = await app.postForm(formOf(FIELDS));
  expect(response.status).toBe(200);
  expect(await readFile(join(app.root, FIRST, "uploads", "old.txt"), "utf8")).toBe("old");
  const [made] = [...app.queue.created.values()];
  expect(made?.id).toBe(batchId(101));
  expect(await readdir(join(app.root, batchId(101), "uploads"))).toEqual(["object.txt"]);
});

test("the same file and fields have the same digest, whatever their order", async () => {
  const app = await startApp(cleanups);
  await app.postForm(formOf(FIELDS, undefined, "file-first"));
  await app.postForm(formOf(FIELDS, undefined, "file-last"));
  const digests = [...app.queue.created.values()].map((created) => created.submission.request_digest);
  expect(new Set(digests).size).toBe(1);
});
