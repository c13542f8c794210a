import { describe, expect, test } from "@jest/globals";
import { Laboratory } from "./support/deposit.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";
import { changesOf, objectOf, storedVersion } from "./support/stored-version.ts";

const identifiers = { primary_id: "ark:/99999/fk4given" };
const UPDATE = { submission_mode: "update" };

async function withObject(files: Readonly<Record<string, string>>) {
  const laboratory = await Laboratory.open();
  changesOf(await laboratory.job(objectOf(files, { identifiers })).run());
  const next = (more: Readonly<Record<string, string>>, configuration: Record<string, string> = UPDATE) =>
    laboratory.job(objectOf(more, { identifiers, configuration, number: 2 }));
  return { laboratory, next };
}

const producerFiles = (paths: readonly string[]): string[] => paths.filter((path) => path.startsWith("producer/"));

describe("the next version of an object", () => {
  test("keeps what an update does not replace, and leaves out what mrt-delete.txt names", async () => {
    const { laboratory, next } = await withObject({ "a.txt": "a", "b/b.txt": "b", "c.txt": "c" });
    const list = "producer/b/b.txt\r\na.txt\n";
    const attempt = await next({ "d.txt": "d", "mrt-delete.txt": list }).run();
    const stored = storedVersion(attempt);
    expect(changesOf(attempt).inventory).toMatchObject({ mode: "update" });
    expect(producerFiles(stored.paths)).toEqual(["producer/c.txt", "producer/d.txt"]);
    expect(stored.text("system/mrt-delete.txt")).toBe(list);
    expect(stored.text("system/mrt-manifest.txt")).not.toContain("producer/mrt-delete.txt");
    expect(validateRoot(laboratory.store)).toMatchObject({ errors: [], warnings: [] });
  });

  test("may replace a file that it deletes", async () => {
    const { next } = await withObject({ "a.txt": "a" });
    const stored = storedVersion(await next({ "a.txt": "new", "mrt-delete.txt": "a.txt" }).run());
    expect(stored.text("producer/a.txt")).toBe("new");
  });

  test("a folder may take the place of a file that goes", async () => {
    const { next } = await withObject({ a: "a" });
    const stored = storedVersion(await next({ "a/b.txt": "b", "mrt-delete.txt": "a\n" }).run());
    expect(producerFiles(stored.paths)).toEqual(["producer/a/b.txt"]);
  });

  test.each(["b.txt", "system/mrt-erc.txt", "../a.txt", "a.txt "])(
    "is refused when mrt-delete.txt names %j, which is no file of the producer's",
    async (path) => {
      const { laboratory, next } = await withObject({ "a.txt": "a" });
      const attempt = await next({ "d.txt": "d", "mrt-delete.txt": path }).run();
      expect(attempt).toMatchObject({ kind: "fail", code: "STORE_FAILED", message: expect.stringContaining(path) });
      expect([...validateRoot(laboratory.store).objects.values()]).toHaveLength(1);
    },
  );

  test("is refused when there is no object to delete from", async () => {
    const laboratory = await Laboratory.open();
    const deposit = objectOf({ "d.txt": "d", "mrt-delete.txt": "a.txt" }, { identifiers, configuration: UPDATE });
    expect(await laboratory.job(deposit).run()).toMatchObject({ kind: "fail", code: "STORE_FAILED" });
    expect(validateRoot(laboratory.store).objects.size).toBe(0);
  });

  test("added anew, holds its own files only, and mrt-delete.txt is one of them", async () => {
    const { next } = await withObject({ "a.txt": "a" });
    const attempt = await next({ "b.txt": "b", "mrt-delete.txt": "a.txt" }, { submission_mode: "add" }).run();
    expect(producerFiles(storedVersion(attempt).paths)).toEqual(["producer/b.txt", "producer/mrt-delete.txt"]);
  });

  test("with deletions, gives the same answer again when it is run again", async () => {
    const { laboratory, next } = await withObject({ "a.txt": "a", "b.txt": "b" });
    const job = next({ "d.txt": "d", "mrt-delete.txt": "a.txt" });
    const first = await job.run();
    expect(await job.run()).toEqual(first);
    expect(validateRoot(laboratory.store).errors).toEqual([]);
  });
});

test("a new ARK that turns out to be an object already is refused, and the object stays as it is", async () => {
  const { laboratory } = await withObject({ "a.txt": "a" });
  const minter = { ...laboratory.minter, propose: () => ({ ok: true, ark: identifiers.primary_id }) as const };
  const other = await Laboratory.open({ minter, store: laboratory.parts.store });
  const attempt = await other.job({ ...objectOf({ "x.txt": "x" }), number: 9 }).run();
  expect(attempt).toMatchObject({ kind: "fail", code: "STORE_FAILED" });
  expect(validateRoot(laboratory.store).objects.size).toBe(1);
});
