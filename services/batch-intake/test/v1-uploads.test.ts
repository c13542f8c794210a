import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { parseManifest } from "@sluice/ingest-formats";
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

  test("may be ten thousand", async () => {
    const { postJson, root } = await startApp(cleanups);
    const objects = Array.from({ length: 10_000 }, (_, i) => ({ url: `https://content.example/${i}`, title: `T${i}` }));
    expect((await postJson({ profile: "demo_content", objects })).status).toBe(202);
    const text = await readFile(join(root, FIRST, "uploads", "objects.checkm"), "utf8");
    expect(text.split("\n").filter((line) => line.startsWith("https:"))).toHaveLength(10_000);
  });
});
