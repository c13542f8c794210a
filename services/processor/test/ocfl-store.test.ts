import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { parseStorageUrl } from "@sluice/ingest-formats";
import { createEgress } from "@sluice/safe-io";
import type { StoreRequest, StoreResult } from "../src/store/object-store.ts";
import { locate } from "../src/store/ocfl/layout.ts";
import { openOcflStore } from "../src/store/ocfl/ocfl-store.ts";
import { openStore } from "../src/store/open-store.ts";
import { write } from "./support/hand-made-object.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";
import { ARK, calm, Crash, crashing, storeFiles, storeRequest } from "./support/store-requests.ts";
import { tempFolder } from "./support/temp-folder.ts";

const NOW = Date.parse("2026-02-03T04:05:06Z");
const JOB_2 = "jid-00000002-0000-8000-8000-000000000002";

interface Bundle {
  readonly root: string;
  readonly object: string;
  readonly files: (contents: Record<string, string>) => ReturnType<typeof storeFiles>;
  readonly put: (request: StoreRequest, ctx?: typeof calm) => Promise<StoreResult>;
}

async function bundle(): Promise<Bundle> {
  const folder = tempFolder();
  const root = join(folder, "store");
  const store = await openOcflStore(root, NOW);
  let lots = 0;
  return {
    root,
    object: join(root, locate(ARK).path),
    files: (contents) => storeFiles(join(folder, `work-${(lots += 1)}`), contents),
    put: (request, ctx = calm) => store.put(request, ctx),
  };
}

interface Head {
  readonly head: string;
  readonly manifest: Record<string, string[]>;
  readonly versions: Record<string, { state: Record<string, string[]>; message: string; user: unknown }>;
}
const inventoryOf = (object: string): Head => JSON.parse(readFileSync(join(object, "inventory.json"), "utf8")) as Head;
const logicalPaths = (object: string, version: string): string[] =>
  Object.values(inventoryOf(object).versions[version]!.state).flat().sort();
const leftInStaging = (root: string): string[] =>
  readdirSync(join(root, "extensions/sluice-staging")).filter((name) => name !== "config.json");
const V1 = { "producer/hello.txt": "hello", "producer/a/b/deep.txt": "deep", "system/mrt-erc.txt": "erc:" };

describe("an OCFL store", () => {
  test("makes a valid storage root, and opens it again", async () => {
    const { root } = await bundle();
    await openOcflStore(root, NOW);
    expect(validateRoot(root)).toEqual({ errors: [], warnings: [], objects: new Map() });
  });

  test("refuses a folder that is something else", async () => {
    const folder = tempFolder();
    write(join(folder, "holiday.jpg"), "x");
    await expect(openOcflStore(folder, NOW)).rejects.toThrow("no OCFL 1.1 storage root");
  });

  test("stores an object as a valid version 1 that names its job", async () => {
    const { root, object, files, put } = await bundle();
    const result = await put(storeRequest(files(V1)));
    expect(result).toMatchObject({ kind: "stored", version: 1, mode: "add" });
    expect(fileURLToPath((result as { manifestUrl: string }).manifestUrl)).toBe(join(object, "v1/inventory.json"));
    expect(validateRoot(root)).toEqual({ errors: [], warnings: [], objects: new Map([[ARK, object]]) });
    const { message, user } = inventoryOf(object).versions["v1"]!;
    expect(message).toBe("jid-00000001-0000-8000-8000-000000000001 add: jid0000000001 of bid0000000001");
    expect(user).toEqual({ name: "Ann <ann@example.org>", address: "mailto:ann@example.org" });
    expect(readFileSync(join(object, "v1/content/producer/a/b/deep.txt"), "utf8")).toBe("deep");
    expect(leftInStaging(root)).toEqual([]);
  });

  test("keeps the same bytes once, in a version and over versions", async () => {
    const { root, object, files, put } = await bundle();
    await put(storeRequest(files({ "producer/one.txt": "same", "producer/two.txt": "same" })));
    await put(storeRequest(files({ "producer/three.txt": "same" }), { job: JOB_2, mode: "update" }));
    expect(Object.values(inventoryOf(object).manifest)).toEqual([["v1/content/producer/one.txt"]]);
    expect(existsSync(join(object, "v2/content"))).toBe(false);
    expect(validateRoot(root).errors).toEqual([]);
  });

  test("an update keeps the producer files that it does not replace, and none of the older system files", async () => {
    const { root, object, files, put } = await bundle();
    await put(storeRequest(files({ ...V1, "system/mrt-submission-manifest.txt": "old" })));
    const second = files({ "producer/hello.txt": "hello again", "system/mrt-erc.txt": "erc: 2" });
    expect(await put(storeRequest(second, { job: JOB_2, mode: "update" }))).toMatchObject({
      version: 2,
      mode: "update",
    });
    expect(logicalPaths(object, "v2")).toEqual(["producer/a/b/deep.txt", "producer/hello.txt", "system/mrt-erc.txt"]);
    expect(readFileSync(join(object, "v2/content/producer/hello.txt"), "utf8")).toBe("hello again");
    expect(validateRoot(root).errors).toEqual([]);
  });

  test("an add to an object that is there is a version with these files alone", async () => {
    const { root, object, files, put } = await bundle();
    await put(storeRequest(files(V1)));
    expect(await put(storeRequest(files({ "producer/new.txt": "new" }), { job: JOB_2 }))).toMatchObject({ version: 2 });
    expect(logicalPaths(object, "v2")).toEqual(["producer/new.txt"]);
    expect(validateRoot(root).errors).toEqual([]);
  });

  test("gives a job that comes again its first answer, even after later versions", async () => {
    const { object, files, put } = await bundle();
    const first = await put(storeRequest(files(V1)));
    await put(storeRequest(files({ "producer/x.txt": "x" }), { job: JOB_2, mode: "update" }));
    const again = files({ ...V1, "system/mrt-erc.txt": "written later" });
    expect(await put(storeRequest(again))).toEqual(first);
    expect(inventoryOf(object).head).toBe("v2");
  });

  test("refuses a job that comes again with other content", async () => {
    const { files, put } = await bundle();
    await put(storeRequest(files(V1)));
    const other = await put(storeRequest(files({ ...V1, "producer/hello.txt": "other" })));
    expect(other).toMatchObject({ kind: "refused", message: expect.stringContaining("version 1 with other content") });
  });

  test("refuses an update that would make a file a folder", async () => {
    const { root, files, put } = await bundle();
    await put(storeRequest(files({ "producer/a": "file" })));
    const result = await put(storeRequest(files({ "producer/a/b": "x" }), { job: JOB_2, mode: "update" }));
    expect(result).toMatchObject({ kind: "refused" });
    expect(validateRoot(root).errors).toEqual([]);
  });

  test("never stores bytes that changed after they were checked", async () => {
    const { root, files, put } = await bundle();
    const changed = files(V1);
    write(changed[0]!.source, "hellO");
    expect(await put(storeRequest(changed))).toMatchObject({ kind: "unavailable" });
    expect(validateRoot(root).objects.size).toBe(0);
    expect(leftInStaging(root)).toEqual([]);
  });

  test("leaves damage alone and says so", async () => {
    const { object, files, put } = await bundle();
    await put(storeRequest(files(V1)));
    write(join(object, "inventory.json"), "{}");
    write(join(object, "v1/inventory.json"), "{}");
    expect(await put(storeRequest(files(V1), { job: JOB_2 }))).toMatchObject({ kind: "refused" });
  });

  test("keeps names of every sort byte by byte", async () => {
    const { root, object, files, put } = await bundle();
    const names = [
      "with space.txt",
      "100%.txt",
      "a+b.txt",
      "smile-😀.txt",
      "שלום.txt",
      "e\u0301.txt",
      "é.txt",
      "__proto__",
    ];
    await put(storeRequest(files(Object.fromEntries(names.map((name) => [`producer/${name}`, name])))));
    expect(logicalPaths(object, "v1")).toEqual(names.map((name) => `producer/${name}`).sort());
    expect(validateRoot(root).errors).toEqual([]);
  });
});

/** Every checkpoint of a first and of a second version, by number. */
const steps = async (mode: "add" | "update"): Promise<string[]> => {
  const { files, put } = await bundle();
  if (mode === "update") await put(storeRequest(files(V1)));
  const watch = crashing(0);
  await put(storeRequest(files({ ...V1, "producer/more.txt": "more" }), { job: JOB_2, mode }), watch);
  return watch.steps;
};

describe("an OCFL store whose process dies", () => {
  test.each(["add", "update"] as const)("at any step of an %s: the next run makes one valid version", async (mode) => {
    const all = await steps(mode);
    expect(all).toEqual(expect.arrayContaining(["storeBegun", "storeFile", "storeStaged", "midEffect", "storeMended"]));
    for (let at = 1; at <= all.length; at += 1) {
      const { root, object, files, put } = await bundle();
      if (mode === "update") await put(storeRequest(files(V1)));
      const request = storeRequest(files({ ...V1, "producer/more.txt": "more" }), { job: JOB_2, mode });
      await expect(put(request, crashing(at))).rejects.toThrow(Crash);
      const version = mode === "add" ? 1 : 2;
      expect(await put(request)).toMatchObject({ kind: "stored", version });
      expect(validateRoot(root)).toMatchObject({ errors: [], warnings: [] });
      expect(readdirSync(object).filter((name) => name.startsWith("v"))).toHaveLength(version);
      expect(leftInStaging(root)).toEqual([]);
    }
  });

  test("before the root inventory is replaced: anybody who writes next mends the object first", async () => {
    const { root, object, files, put } = await bundle();
    await put(storeRequest(files(V1)));
    const at = (await steps("update")).indexOf("midEffect") + 1;
    const second = storeRequest(files({ "producer/more.txt": "more" }), { job: JOB_2, mode: "update" });
    await expect(put(second, crashing(at))).rejects.toThrow(Crash);
    expect(validateRoot(root).errors.map(({ code }) => code)).toContain("E046");
    const third = storeRequest(files({ "producer/third.txt": "3" }), { job: "jid-3", mode: "update" });
    expect(await put(third)).toMatchObject({ version: 3 });
    expect(await put(second)).toMatchObject({ version: 2 });
    expect(logicalPaths(object, "v3")).toEqual(expect.arrayContaining(["producer/more.txt", "producer/third.txt"]));
    expect(validateRoot(root).errors).toEqual([]);
  });

  test("between root inventory and sidecar: the next run mends them", async () => {
    const { root, object, files, put } = await bundle();
    const request = storeRequest(files(V1));
    await put(request);
    const sidecar = join(object, "inventory.json.sha512");
    write(sidecar, `${"0".repeat(128)} inventory.json\n`);
    expect(await put(request)).toMatchObject({ kind: "stored", version: 1 });
    expect(validateRoot(root).errors).toEqual([]);
  });
});

describe("an OCFL store with a zombie", () => {
  test("that wakes before its rename: its work is gone, the successor's version stands", async () => {
    const { root, files, put } = await bundle();
    const request = storeRequest(files(V1));
    const zombie = await put(request, {
      ...calm,
      checkpoint: async (step) => {
        if (step === "storeStaged") expect(await put(request)).toMatchObject({ version: 1 });
      },
    });
    expect(zombie).toMatchObject({ kind: "unavailable" });
    expect(validateRoot(root)).toMatchObject({ errors: [], warnings: [] });
  });

  test("that wakes in the middle of its files: nothing half done becomes visible", async () => {
    const { root, files, put } = await bundle();
    let woken = 0;
    const zombie = await put(storeRequest(files(V1)), {
      ...calm,
      checkpoint: async (step) => {
        if (step === "storeFile" && (woken += 1) === 1)
          await put(storeRequest(files({ "producer/x": "x" }), { job: JOB_2 }));
      },
    });
    expect(zombie.kind).toBe("unavailable");
    expect(validateRoot(root)).toMatchObject({ errors: [], warnings: [] });
  });

  test("that takes the version number first: the other one takes the next", async () => {
    const { root, object, files, put } = await bundle();
    await put(storeRequest(files(V1)));
    const spare = join(tempFolder(), "staging");
    const staging = join(root, "extensions/sluice-staging");
    const result = await put(storeRequest(files({ "producer/b": "b" }), { job: JOB_2, mode: "update" }), {
      ...calm,
      checkpoint: async (step) => {
        if (step !== "storeStaged" || existsSync(join(object, "v2"))) return;
        // Hidden from the other writer's broom, as if both had staged before either looked.
        const own = leftInStaging(root)[0]!;
        mkdirSync(spare);
        renameSync(join(staging, own), join(spare, own));
        const other = await put(storeRequest(files({ "producer/c": "c" }), { job: "jid-9", mode: "update" }));
        expect(other).toMatchObject({ kind: "stored", version: 2 });
        renameSync(join(spare, own), join(staging, own));
      },
    });
    expect(result).toMatchObject({ kind: "stored", version: 3 });
    expect(logicalPaths(object, "v3")).toEqual(
      expect.arrayContaining(["producer/b", "producer/c", "producer/hello.txt"]),
    );
    expect(validateRoot(root)).toMatchObject({ errors: [], warnings: [] });
  });

  test("that puts its old root inventory over a newer one sees it and mends it", async () => {
    const { root, object, files, put } = await bundle();
    await put(storeRequest(files(V1)));
    const old = readFileSync(join(object, "inventory.json"));
    const oldSidecar = readFileSync(join(object, "inventory.json.sha512"));
    const second = storeRequest(files({ "producer/b": "b" }), { job: JOB_2, mode: "update" });
    await put(second);
    write(join(object, "inventory.json"), old.toString());
    write(join(object, "inventory.json.sha512"), oldSidecar.toString());
    expect(await put(second)).toMatchObject({ version: 2 });
    expect(inventoryOf(object).head).toBe("v2");
    expect(validateRoot(root).errors).toEqual([]);
  });
});

describe("what a crash leaves in the staging area", () => {
  test("is removed when nobody came back for a week, and not before", async () => {
    const { root } = await bundle();
    const left = join(root, "extensions/sluice-staging", `${"a".repeat(64)}.x`);
    mkdirSync(left);
    await openOcflStore(root, Date.now());
    expect(existsSync(left)).toBe(true);
    await openOcflStore(root, Date.now() + 8 * 24 * 3_600_000);
    expect(existsSync(left)).toBe(false);
  });

  test("is opened with the rest: a store whose staging folder was removed works", async () => {
    const { root, files } = await bundle();
    rmSync(join(root, "extensions/sluice-staging"), { recursive: true });
    const store = await openOcflStore(root, NOW);
    expect(await store.put(storeRequest(files(V1)), calm)).toMatchObject({ kind: "stored" });
  });
});

describe("STORAGE_URL", () => {
  test("names a folder of an OCFL store, or a storage service", () => {
    expect(parseStorageUrl("ocfl:./data/store")).toEqual({ kind: "ocfl", folder: "./data/store" });
    expect(parseStorageUrl("ocfl:///srv/store")).toEqual({ kind: "ocfl", folder: "/srv/store" });
    expect(parseStorageUrl("merritt+http://store:35121/x/")).toEqual({ kind: "merritt", base: "http://store:35121/x" });
    expect(parseStorageUrl("merritt+http://a:b@store")).toBeNull();
    expect(parseStorageUrl("ocfl:")).toBeNull();
    expect(parseStorageUrl("s3://bucket")).toBeNull();
  });

  test("opens what it names", async () => {
    const folder = join(tempFolder(), "store");
    const egress = createEgress();
    const options = { nowMs: NOW, egress, urlOf: (path: string) => path };
    const store = await openStore(parseStorageUrl(`ocfl:${folder}`)!, options);
    const service = await openStore(parseStorageUrl("merritt+https://store.example.org:35121/")!, options);
    expect([store.name, service.name]).toEqual([`file://${folder}`, "https://store.example.org:35121"]);
    await egress.close();
  });
});
