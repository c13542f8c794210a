/** Whatever a document points to is there: files, headings, tests by their names, exported names. */
import { describe, expect, test } from "@jest/globals";
import * as queueCore from "@sluice/queue-core";
import * as stageRuntime from "@sluice/stage-runtime";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { filesBelow, firstCells, foldersIn, matches, read, ROOT } from "./support.ts";

const DOCUMENTS = await filesBelow("", ".md");

interface Link {
  readonly text: string;
  readonly file: string;
  readonly anchor: string | undefined;
}

const withoutCode = (markdown: string): string => markdown.replace(/^```[^]*?^```/gm, "").replace(/`[^`\n]*`/g, "");

function linksOf(document: string, markdown: string): readonly Link[] {
  return [...withoutCode(markdown).matchAll(/\[([^\]]*)\]\(([^)\s]+)\)/g)].flatMap(([, text = "", target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = "", anchor] = target.split("#");
    return [{ text, file: path === "" ? document : normalize(join(dirname(document), path)), anchor }];
  });
}

/** As GitHub names headings. */
const anchorsOf = (markdown: string): readonly string[] =>
  matches(markdown, /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );

describe.each(DOCUMENTS)("%s", (document) => {
  test("links to files and headings that are there", async () => {
    const broken: string[] = [];
    for (const { file, anchor } of linksOf(document, await read(document))) {
      if (!existsSync(`${ROOT}${file}`)) broken.push(file);
      else if (anchor !== undefined && !anchorsOf(await read(file)).includes(anchor)) broken.push(`${file}#${anchor}`);
    }
    expect(broken).toEqual([]);
  });

  test("names paths that are there", async () => {
    const text = await read(document);
    const named = matches(text, /`((?:packages|services|tools|docs|tests)\/[\w./-]+)`/g);
    expect(named.filter((path) => !/STAGE|X/.test(path) && !existsSync(`${ROOT}${path}`))).toEqual([]);
  });
});

const QUOTING = ["README.md", "docs/merritt-faults.md"];

test.each(QUOTING)("a link in %s that quotes a test leads to a file that has it", async (document) => {
  const links = linksOf(document, await read(document)).filter(({ text }) => text.startsWith("“"));
  expect(links.length).toBeGreaterThan(5);
  const wanting = await Promise.all(
    links.map(async ({ text, file }) => ((await read(file)).includes(`test("${text.slice(1, -1)}"`) ? [] : [text])),
  );
  expect(wanting.flat()).toEqual([]);
});

test("each of the sixteen faults of Merritt's queue has a test", async () => {
  const rows = (await read("docs/merritt-faults.md")).split("\n").filter((line) => /^\| \d+ /.test(line));
  expect(rows.map((row) => Number(/\d+/.exec(row)?.[0]))).toEqual(Array.from({ length: 16 }, (_, i) => i + 1));
  expect(rows.filter((row) => !/\[“[^”]+”\]\(/.test(row))).toEqual([]);
});

test("names imported from our packages in examples are exported there", async () => {
  const surfaces: Readonly<Record<string, readonly string[]>> = {
    "queue-core": Object.keys(queueCore),
    "stage-runtime": Object.keys(stageRuntime),
  };
  const texts = await Promise.all(DOCUMENTS.map(read));
  const imports = texts.flatMap((text) => [...text.matchAll(/import \{([^}]*)\} from "@sluice\/([a-z-]+)"/g)]);
  const wrong = imports.flatMap(([, names = "", surface = ""]) => {
    const values = names.split(",").map((name) => name.trim());
    const checked = values.filter((name) => name !== "" && !name.startsWith("type "));
    return checked.filter((name) => surfaces[surface]?.includes(name) === false).map((name) => `${surface}: ${name}`);
  });
  expect(imports.length).toBeGreaterThan(4);
  expect(wrong).toEqual([]);
});

test("the surface that queue-core's README describes is exported", async () => {
  const cells = firstCells(await read("packages/queue-core/README.md"), ["names"]);
  const names = cells.flatMap((cell) => matches(cell, /`(\w+)`/g));
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !Object.hasOwn(queueCore, name))).toEqual([]);
});

describe("README.md", () => {
  test("maps every package, service and tool", async () => {
    const cells = firstCells(await read("README.md"), ["path"]);
    const mapped = cells.flatMap((cell) => matches(cell, /`([^`]+)`/g));
    const there = await Promise.all(
      ["packages", "services", "tools"].map(async (top) => (await foldersIn(top)).map((name) => `${top}/${name}`)),
    );
    const alone = (await foldersIn("")).filter((name) => !["packages", "services", "tools", "docs"].includes(name));
    expect([...mapped].sort()).toEqual([...alone, ...there.flat()].sort());
  });

  test("fits on a few screens", async () => {
    expect((await read("README.md")).split("\n").length).toBeLessThanOrEqual(150);
  });
});

test("every package and service has a README", async () => {
  const folders = [
    ...(await foldersIn("packages")).map((name) => `packages/${name}`),
    ...(await foldersIn("services")).map((name) => `services/${name}`),
  ];
  expect(folders.filter((folder) => !existsSync(`${ROOT}${folder}/README.md`))).toEqual([]);
});
