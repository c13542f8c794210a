import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { DUBLIN_CORE_ELEMENTS, parseManifest } from "@sluice/ingest-formats";
import { DUBLIN_CORE_FIELDS, OBJECTS_OF_FILES_MAX } from "@sluice/wire";
import { fieldsOf, formOf, problemOf, startApp } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const FIRST = "bid0000000100";

describe("a form to POST /v1/batches", () => {
  const post = (base: string, form: FormData, headers: Record<string, string> = {}) =>
    fetch(`${base}/v1/batches`, { method: "POST", body: form, headers });

  test("brings the payload along and is answered like JSON", async () => {
    const { base, queue, root } = await startApp(cleanups);
    const fields = { profile: "demo_content", title: "Notes", local_id: "a;b", submission_mode: "update" };
    const response = await post(base, formOf(fields));
    const [[uuid, { submission }] = [] as never] = queue.created;
    expect(response.status).toBe(202);
    expect(response.headers.get("location")).toBe(`/v1/batches/${uuid}`);
    expect(await response.json()).toEqual({ id: uuid, bid: FIRST, url: `/v1/batches/${uuid}` });
    expect(submission).toMatchObject({
      payload_url: "upload:object.txt",
      erc_what: "Notes",
      local_id: ["a", "b"],
      submission_mode: "update",
    });
    expect(await readFile(join(root, FIRST, "uploads", "object.txt"), "utf8")).toBe("hello");
  });

  test.each([
    ["a field that we do not know", { profile: "demo_content", colour: "blue" }, "colour"],
    ["a URL beside the file", { profile: "demo_content", payload_url: "http://content.example/a" }, "payload_url"],
    ["no profile", {}, "profile"],
    ["a size that is another", { profile: "demo_content", payload_size: "6" }, "payload_size"],
    ["a mode that there is not", { profile: "demo_content", submission_mode: "replace" }, "submission_mode"],
  ])("is refused for %s, which is named", async (_what, fields, field) => {
    const { base, queue } = await startApp(cleanups);
    const response = await post(base, formOf(fields));
    expect(response.status).toBe(400);
    expect(fieldsOf(await problemOf(response))).toEqual([field]);
    expect(queue.created.size).toBe(0);
  });

  test("whose digest is not the file's is refused", async () => {
    const { base } = await startApp(cleanups);
    const digest = { digest_type: "md5", digest_value: "0".repeat(32) };
    expect((await post(base, formOf({ profile: "demo_content", ...digest }))).status).toBe(422);
  });
});

test("JSON has the fields that Merritt's form has: ERC, Dublin Core, DataCite's type, where the ARK leads", async () => {
  expect([...DUBLIN_CORE_FIELDS].sort()).toEqual([...DUBLIN_CORE_ELEMENTS].sort());
  const { queue, postJson } = await startApp(cleanups);
  const response = await postJson({
    profile: "demo_content",
    payload_url: "https://content.example/a.txt",
    dublin_core: { subject: "maps; seas", language: "he" },
    erc: "erc:\nwho: Ada\nwhat: Notes\nwhen: 1843\n",
    resource_type: "Text",
    retain_target_url: "true",
    title: "My own",
  });
  expect(response.status).toBe(202);
  expect([...queue.created.values()][0]!.submission).toMatchObject({
    DCsubject: "maps; seas",
    DClanguage: "he",
    DataCiteResourceType: "Text",
    retainTargetURL: "true",
    erc_who: "Ada",
    erc_what: "My own",
    erc_when: "1843",
  });
  const wrong = await postJson({
    profile: "demo_content",
    payload_url: "https://a.example/b",
    dublin_core: { colour: "x" },
  });
  expect(fieldsOf(await problemOf(wrong))).toEqual(["/dublin_core/colour"]);
});

describe("objects in the request itself", () => {
  const OBJECT = { url: "https://content.example/a.txt", name: "a.txt" };
  const whole = {
    ...OBJECT,
    digest_type: "SHA-256",
    digest_value: "AB".repeat(32),
    size: 12,
    local_id: ["one", "two"],
    primary_id: "ark:99999/fk4a",
    title: "שלום",
    creator: "Ada",
    date: "1843",
  };

  test("become a batch manifest in the batch's folder, which says all of them", async () => {
    const { queue, root, postJson } = await startApp(cleanups);
    const response = await postJson({ profile: "demo_content", title: "All", objects: [whole, OBJECT] });
    expect(response.status).toBe(202);
    expect([...queue.created.values()][0]!.submission).toMatchObject({
      type: "single-file-batch-manifest",
      payload_url: "upload:objects.checkm",
      erc_what: "All",
    });
    const text = await readFile(join(root, FIRST, "uploads", "objects.checkm"), "utf8");
    expect(await parseManifest(text, { kind: "single-file-batch-manifest" })).toMatchObject({
      ok: true,
      rows: [
        {
          fileUrl: whole.url,
          fileName: "a.txt",
          fileSize: 12,
          digest: { algorithm: "sha256", value: "ab".repeat(32) },
          localIds: ["one", "two"],
          primaryId: "ark:/99999/fk4a",
          title: "שלום",
          creator: "Ada",
          date: "1843",
        },
        { fileUrl: OBJECT.url, fileName: "a.txt", localIds: [] },
      ],
    });
  });

  test.each([
    ["container", "container-batch-manifest"],
    ["object-manifest", "batch-manifest"],
    ["single-file-batch-manifest", "single-file-batch-manifest"],
  ])("of type %s become a %s", async (type, kind) => {
    const { queue, postJson } = await startApp(cleanups);
    await postJson({ profile: "demo_content", type, objects: [OBJECT] });
    expect([...queue.created.values()][0]!.submission.type).toBe(kind);
  });

  test.each([
    ["a URL that we do not fetch", { url: "ftp://content.example/a" }, "/objects/1/url"],
    ["a name with folders", { ...OBJECT, name: "../a" }, "/objects/1/name"],
    ["a bar, which no manifest can carry", { ...OBJECT, title: "a|b" }, "/objects/1/title"],
    ["a line end", { ...OBJECT, creator: "a\nb" }, "/objects/1/creator"],
    ["half a digest", { ...OBJECT, digest_value: "ab" }, "/objects/1/digest_type"],
    ["a digest that is none", { ...OBJECT, digest_type: "md5", digest_value: "x" }, "/objects/1/digest_value"],
    ["an id that is no ARK", { ...OBJECT, primary_id: "doi:1/2" }, "/objects/1/primary_id"],
    ["a field that we do not know", { ...OBJECT, colour: "blue" }, "/objects/1/colour"],
    ["a size that is none", { ...OBJECT, size: -1 }, "/objects/1/size"],
  ])("are refused for %s, by pointer", async (_what, object, pointer) => {
    const { postJson, queue, root } = await startApp(cleanups);
    const response = await postJson({ profile: "demo_content", objects: [OBJECT, object] });
    expect(response.status).toBe(400);
    expect(fieldsOf(await problemOf(response))).toEqual([pointer]);
    expect(queue.created.size).toBe(0);
    expect((await readdir(root)).filter((name) => name.startsWith("bid"))).toEqual([]);
  });

  test.each([
    ["none at all", { objects: [] }, "/objects"],
    ["a payload URL beside them", { objects: [OBJECT], payload_url: "http://content.example/a" }, "/payload_url"],
    ["neither objects nor a URL", {}, "/payload_url"],
  ])("are refused when there are %s", async (_what, body, pointer) => {
    const { postJson } = await startApp(cleanups);
    expect(fieldsOf(await problemOf(await postJson({ profile: "demo_content", ...body })))).toEqual([pointer]);
  });

  test("sent twice under one key are one batch, and other objects under it are refused", async () => {
    const { postJson, queue } = await startApp(cleanups);
    const send = (objects: object[]) => postJson({ profile: "demo_content", objects }, { "idempotency-key": "k" });
    const [first, second, third] = [await send([OBJECT]), await send([OBJECT]), await send([whole])];
    expect([first.status, second.status, third.status]).toEqual([202, 202, 422]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(queue.created.size).toBe(1);
  });

  test("with files of their own become manifests in the batch's folder, which the batch manifest names", async () => {
    const { queue, root, postJson } = await startApp(cleanups);
    const page = { url: "https://content.example/p/1.tif", size: 7, digest_type: "md5", digest_value: "0".repeat(32) };
    const files = [
      { ...page, name: "pages/1.tif", mime_type: "image/tiff" },
      { url: "https://content.example/text.xml" },
    ];
    const objects = [OBJECT, { files, title: "A book", local_id: "book-1", primary_id: "ark:/99999/fk4book" }];
    expect((await postJson({ profile: "demo_content", objects })).status).toBe(202);
    expect([...queue.created.values()][0]!.submission).toMatchObject({
      type: "batch-manifest",
      payload_url: "upload:objects.checkm",
      inline_manifests: 2,
    });
    const read = (name: string) => readFile(join(root, FIRST, "uploads", name), "utf8");
    const isBeside = (url: string) => url.startsWith("upload:");
    expect(await parseManifest(await read("objects.checkm"), { kind: "batch-manifest", isBeside })).toMatchObject({
      rows: [
        { fileUrl: "upload:object-1.checkm" },
        { fileUrl: "upload:object-2.checkm", title: "A book", localIds: ["book-1"], primaryId: "ark:/99999/fk4book" },
      ],
    });
    expect(await parseManifest(await read("object-1.checkm"), { kind: "object-manifest" })).toMatchObject({
      rows: [{ fileUrl: OBJECT.url, fileName: "a.txt" }],
    });
    expect(await parseManifest(await read("object-2.checkm"), { kind: "object-manifest" })).toMatchObject({
      rows: [
        {
          fileUrl: page.url,
          fileName: "pages/1.tif",
          fileSize: 7,
          mimeType: "image/tiff",
          digest: { algorithm: "md5" },
        },
        { fileUrl: "https://content.example/text.xml", fileName: "text.xml" },
      ],
    });
  });

  const FILE = { url: "https://content.example/a" };
  test.each([
    ["a URL beside files", { ...FILE, files: [FILE] }, "/objects/1/url"],
    ["no files", { files: [] }, "/objects/1/files"],
    ["neither", { title: "x" }, "/objects/1/url"],
    ["two files of one name", { files: [FILE, { ...FILE, name: "a" }] }, "/objects/1/files/1/name"],
    ["a name that leads out", { files: [{ ...FILE, name: "../a" }] }, "/objects/1/files/0/name"],
    ["a file's bar", { files: [FILE, { ...FILE, name: "b|c" }] }, "/objects/1/files/1/name"],
    ["a file's upload", { files: [{ url: "upload:objects.checkm" }] }, "/objects/1/files/0/url"],
    ["half a digest", { files: [{ ...FILE, digest_type: "md5" }] }, "/objects/1/files/0/digest_value"],
  ])("with files are refused for %s, by pointer", async (_what, object, pointer) => {
    const { postJson, queue } = await startApp(cleanups);
    const response = await postJson({ profile: "demo_content", objects: [{ files: [FILE] }, object] });
    expect([response.status, fieldsOf(await problemOf(response))]).toEqual([400, [pointer]]);
    expect(queue.created.size).toBe(0);
  });

  test("with files are no containers, and at most a thousand", async () => {
    const { postJson } = await startApp(cleanups);
    const refusal = async (body: object) =>
      fieldsOf(await problemOf(await postJson({ profile: "demo_content", ...body })));
    expect(await refusal({ type: "container", objects: [{ files: [FILE] }] })).toEqual(["/type"]);
    const many = Array.from({ length: OBJECTS_OF_FILES_MAX + 1 }, () => ({ files: [FILE] }));
    expect(await refusal({ objects: many })).toEqual(["/objects"]);
  });

  test("may be ten thousand", async () => {
    const { postJson, root } = await startApp(cleanups);
    const objects = Array.from({ length: 10_000 }, (_, i) => ({ url: `https://content.example/${i}`, title: `T${i}` }));
    expect((await postJson({ profile: "demo_content", objects })).status).toBe(202);
    const text = await readFile(join(root, FIRST, "uploads", "objects.checkm"), "utf8");
    expect(text.split("\n").filter((line) => line.startsWith("https:"))).toHaveLength(10_000);
  });
});
