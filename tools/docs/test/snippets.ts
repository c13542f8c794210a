/**
 * The code in the documents, as modules that a compiler can check. A block may be preceded by a comment that readers do not see:
 * `<!-- given … -->` declares what the block takes for granted, each with its type. Names of the document's own package need no import
 * there.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesBelow, matches, read, ROOT } from "./support.ts";

export interface Snippet {
  /** `packages/client/README.md:6` */
  readonly place: string;
  readonly document: string;
  readonly language: string;
  readonly code: string;
  /** "": nothing is taken for granted. */
  readonly given: string;
}

const BLOCK = /^(?:<!-- given\n((?:(?!-->).*\n)+)-->\n\n)?```([a-z]+)\n((?:(?!```).*\n)*)```$/gm;

export async function snippetsOf(languages: readonly string[]): Promise<readonly Snippet[]> {
  const documents = await filesBelow("", ".md");
  const found = await Promise.all(documents.map(async (document) => snippetsIn(document, await read(document))));
  return found.flat().filter(({ language }) => languages.includes(language));
}

export const snippetsIn = (document: string, text: string): readonly Snippet[] =>
  [...text.matchAll(BLOCK)].map((match) => {
    const [, given = "", language = "", code = ""] = match;
    const line = text.slice(0, match.index).split("\n").length;
    return { place: `${document}:${line}`, document, language, code, given };
  });

/** What the compiler says, with the places of the snippets in place of files'. */
export async function compile(snippets: readonly Snippet[]): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-snippets-"));
  try {
    const files = new Map<string, string>();
    await linkDependencies("", folder);
    for (const [i, snippet] of snippets.entries()) {
      const home = packageOf(snippet.document);
      const file = `${home}/snippet-${i}.ts`;
      await mkdir(join(folder, home), { recursive: true });
      await linkDependencies(home, join(folder, home));
      await writeFile(join(folder, file), await moduleOf(snippet, home));
      files.set(file, snippet.place);
    }
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(await settings([...files.keys()])));
    return (await runCompiler(folder)).map((line) => line.replace(/^[^(]+/, (file) => files.get(file) ?? file));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `packages/client`; "" of a document that belongs to none. */
function packageOf(document: string): string {
  const [top = "", name = ""] = document.split("/");
  return existsSync(join(ROOT, top, name, "package.json")) ? `${top}/${name}` : "";
}

async function linkDependencies(home: string, into: string): Promise<void> {
  const target = join(ROOT, home, "node_modules");
  const link = join(into, "node_modules");
  if (existsSync(target) && !existsSync(link)) await symlink(target, link);
}

async function moduleOf({ code, given }: Snippet, home: string): Promise<string> {
  const own = home === "" ? "" : await ownImports(home, `${given}\n${code}`);
  return `${own}${given}\n${code}\nexport {};\n`;
}

/** Those of the package's names that the text uses and does not declare itself. */
async function ownImports(home: string, text: string): Promise<string> {
  const index = `${home}/src/index.ts`;
  if (!existsSync(join(ROOT, index))) return "";
  const { name } = JSON.parse(await read(`${home}/package.json`)) as { readonly name: string };
  const exported = matches(await read(index), /^export (?:type )?\{([^}]+)\}/gm).flatMap((names) => names.split(","));
  const plain = exported.map((each) =>
    each
      .trim()
      .replace(/^type /, "")
      .replace(/^.* as /, ""),
  );
  const used = plain.filter((each) => each !== "" && new RegExp(`(?<![.\\w])${each}\\b(?!:)`).test(text));
  const imported = matches(text, /^import (?:type )?\{([^}]+)\}/gm).flatMap((names) => names.split(","));
  const known = new Set(imported.map((each) => each.trim().replace(/^type /, "")));
  const isDeclared = (each: string): boolean =>
    known.has(each) || new RegExp(`\\b(?:const|let|function|class|interface|type) ${each}\\b`).test(text);
  const free = used.filter((each) => !isDeclared(each));
  return free.map((each) => `import { ${each} } from "${name}";\n`).join("");
}

async function settings(files: readonly string[]): Promise<object> {
  const [packages, services] = await Promise.all([readdir(join(ROOT, "packages")), readdir(join(ROOT, "services"))]);
  const homes = [...packages.map((name) => `packages/${name}`), ...services.map((name) => `services/${name}`)];
  const built = homes.filter((home) => existsSync(join(ROOT, home, "dist/index.d.ts")));
  return {
    extends: join(ROOT, "tsconfig.base.json"),
    compilerOptions: {
      noEmit: true,
      noUnusedLocals: false,
      noUnusedParameters: false,
      // Imports are written for those who read the snippet.
      verbatimModuleSyntax: false,
      module: "esnext",
      moduleResolution: "bundler",
      preserveSymlinks: false,
      typeRoots: [join(ROOT, "node_modules/@types")],
      paths: Object.fromEntries(
        built.map((home) => [`@sluice/${home.split("/")[1] ?? ""}`, [join(ROOT, home, "dist/index.d.ts")]]),
      ),
    },
    files,
  };
}

/** Its lines; none = nothing is wrong. */
const runCompiler = (folder: string): Promise<readonly string[]> =>
  new Promise((resolve) => {
    const compiler = join(ROOT, "node_modules/typescript-native/bin/tsc");
    execFile(
      process.execPath,
      [compiler, "-p", folder, "--pretty", "false"],
      { cwd: folder },
      (_error, stdout, stderr) => resolve(`${stdout}${stderr}`.split("\n").filter((line) => line !== "")),
    );
  });
