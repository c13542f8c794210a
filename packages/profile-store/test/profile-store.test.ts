import { mkdtemp, rename, rm, symlink, unlink, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { openProfiles, type ProfileProblem, type ProfileStore } from "../src/index.ts";

const profileText = (name: string, description = "A collection", extra = ""): string =>
  [
    `ProfileID: ${name}`,
    `ProfileDescription: ${description}`,
    "Identifier-scheme: ARK",
    "Collection.1: ark:/99999/m5collection",
    "Type: MRT-curatorial",
    "Role: MRT-content",
    "Owner: ark:/99999/j2owner",
    extra,
  ].join("\n");

interface Bundle {
  readonly folder: string;
  readonly problems: ProfileProblem[];
  readonly store: ProfileStore;
  /** Resolves as soon as the condition holds; looked at after every change the store tells of. */
  readonly until: (condition: () => boolean) => Promise<void>;
}

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-profiles-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function open(folder: string, pollMs: number): Promise<Bundle> {
  const problems: ProfileProblem[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((look) => look());
  const onProblem = (problem: ProfileProblem): void => {
    problems.push(problem);
    wake();
  };
  const store = await openProfiles(folder, { onProblem, onChange: wake, pollMs });
  cleanups.push(() => store.close());
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { folder, problems, store, until };
}

/** A store whose poll never comes: what it notices it was told by the file system, or by `refresh`. */
const HOUR = 3_600_000;
async function setup(files: Readonly<Record<string, string>> = {}, pollMs = HOUR): Promise<Bundle> {
  const folder = await makeFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return open(folder, pollMs);
}

const descriptionOf = (store: ProfileStore, name: string): string | null => {
  const found = store.get(name);
  return found.ok ? found.profile.description : null;
};

describe("profiles in a folder", () => {
  test("a profile is found with and without the file suffix", async () => {
    const { store } = await setup({
      one_content: profileText("one_content"),
      "two_content.properties": profileText("two_content"),
    });
    expect(store.names()).toEqual(["one_content", "two_content"]);
    expect(descriptionOf(store, "one_content")).toBe("A collection");
    expect(descriptionOf(store, "two_content")).toBe("A collection");
  });

  test("templates, notes and back-ups of an editor are no profiles", async () => {
    const { store, problems } = await setup({
      "TEMPLATE-PROFILE": "ProfileID: ${NAME}",
      TEMPLATE_content: "ProfileID: ${NAME}",
      "README.md": "hello",
      "one_content~": profileText("one_content"),
      ".one_content.swp": "x",
    });
    expect(store.names()).toEqual([]);
    expect(problems).toEqual([]);
  });

  test.each(["../one_content", "a/b_content", "..", "", "one", "one_content\n", "one_content\0", "/etc/x_content"])(
    "the name %j is refused before any lookup",
    async (name) => {
      const { store } = await setup({ one_content: profileText("one_content") });
      expect(store.get(name)).toMatchObject({ ok: false, problem: expect.stringContaining("no profile name") });
    },
  );

  test("an unknown profile is named in the answer", async () => {
    const { store } = await setup();
    expect(store.get("lost_content")).toEqual({ ok: false, problem: "there is no profile lost_content" });
  });

  test("a profile that never was valid says what is wrong with it", async () => {
    const { store, problems } = await setup({ one_content: "ProfileID: one_content\nOwner: nobody" });
    const found = store.get("one_content");
    expect(found).toMatchObject({ ok: false, problem: expect.stringContaining("Owner") });
    expect(problems).toEqual([{ name: "one_content", severity: "broken", message: expect.stringContaining("Owner") }]);
  });

  test("a profile under another's name is refused", async () => {
    const { store } = await setup({ one_content: profileText("two_content") });
    expect(store.get("one_content")).toMatchObject({ ok: false, problem: expect.stringContaining("ProfileID") });
  });

  test("an unknown key is a warning and the profile is used", async () => {
    const { store, problems } = await setup({ one_content: profileText("one_content", "A", "Colour: blue") });
    expect(store.names()).toEqual(["one_content"]);
    expect(problems).toEqual([
      { name: "one_content", severity: "warning", message: expect.stringContaining("Colour") },
    ]);
  });

  test("of two files with one profile the first counts and the other is reported once", async () => {
    const { store, problems } = await setup({
      one_content: profileText("one_content", "first"),
      "one_content.properties": profileText("one_content", "second"),
    });
    await store.refresh();
    expect(descriptionOf(store, "one_content")).toBe("first");
    expect(problems.map((problem) => problem.severity)).toEqual(["warning"]);
  });

  test("a file far too large is not read", async () => {
    const { store } = await setup({ one_content: "#".repeat(300_000) });
    expect(store.get("one_content")).toMatchObject({ ok: false, problem: expect.stringContaining("more than") });
  });
});

describe("while it is open", () => {
  test("a new version is used without a restart", async () => {
    const { folder, store, until } = await setup({ one_content: profileText("one_content", "old") });
    await writeFile(join(folder, "one_content"), profileText("one_content", "new"));
    await until(() => descriptionOf(store, "one_content") === "new");
  });

  test("a broken new version leaves the last good one in use and is reported once", async () => {
    const { folder, store, problems, until } = await setup({ one_content: profileText("one_content", "good") });
    await writeFile(join(folder, "new"), "ProfileID: one_content\n");
    await rename(join(folder, "new"), join(folder, "one_content"));
    await until(() => problems.length > 0);
    await store.refresh();
    expect(descriptionOf(store, "one_content")).toBe("good");
    expect(problems).toEqual([
      { name: "one_content", severity: "broken", message: expect.stringContaining("stays in use") },
    ]);
    await writeFile(join(folder, "one_content"), profileText("one_content", "mended"));
    await until(() => descriptionOf(store, "one_content") === "mended");
  });

  test("a removed profile is gone", async () => {
    const { folder, store, until } = await setup({ one_content: profileText("one_content") });
    await unlink(join(folder, "one_content"));
    await until(() => store.names().length === 0);
    expect(store.get("one_content").ok).toBe(false);
  });

  test("the switch of a ConfigMap's link is noticed", async () => {
    const folder = await makeFolder();
    for (const version of ["v1", "v2"]) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, "one_content"), profileText("one_content", version));
    }
    await symlink("v1", join(folder, "..data"));
    await symlink("..data/one_content", join(folder, "one_content"));
    const { store, until } = await open(folder, HOUR);
    expect(descriptionOf(store, "one_content")).toBe("v1");
    await symlink("v2", join(folder, "..next"));
    await rename(join(folder, "..next"), join(folder, "..data"));
    await until(() => descriptionOf(store, "one_content") === "v2");
  });

  test("a folder that comes later is used when it is there, and its absence is reported once", async () => {
    const parent = await makeFolder();
    const folder = join(parent, "profiles");
    const { store, problems, until } = await open(folder, 20);
    expect(store.get("one_content")).toMatchObject({ ok: false, problem: expect.stringContaining(folder) });
    await mkdir(folder);
    await writeFile(join(folder, "one_content"), profileText("one_content"));
    await until(() => store.names().length === 1);
    expect(problems.filter((problem) => problem.name === null)).toHaveLength(1);
  });

  test("a folder that goes away leaves what is known in use", async () => {
    const { folder, store, problems, until } = await setup({ one_content: profileText("one_content") }, 20);
    await rename(folder, `${folder}.away`);
    cleanups.push(() => rm(`${folder}.away`, { recursive: true, force: true }));
    await until(() => problems.length > 0);
    expect(store.names()).toEqual(["one_content"]);
  });
});
