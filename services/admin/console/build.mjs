/** Builds the console into ../dist/console: hashed names, so that they may be kept for ever, and an index.html. */
import { build } from "esbuild";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ADMIN, JOBS } from "@sluice/wire";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const OUT = join(HERE, "..", "dist", "console");

/**
 * The console speaks of endpoints as everybody does, by the table of @sluice/wire. A browser needs no schemas: the
 * server checks. So it gets the table without them, and whatever else it would take from there fails the build.
 */
const endpointsOnly = {
  name: "endpoints-only",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@sluice\/wire$/ }, ({ path }) => ({ path, namespace: "wire" }));
    onLoad({ filter: /.*/, namespace: "wire" }, () => {
      const light = (table, placed) =>
        JSON.stringify(
          Object.fromEntries(
            Object.entries(table).map(([name, { id, method, path, permission, stream }]) => [
              name,
              { id, method, path: placed(path), permission, stream },
            ]),
          ),
        );
      // The job queue's API is asked through the admin: there is one server for a page.
      const contents =
        `export const ADMIN = ${light(ADMIN, (path) => path)};` +
        `export const JOBS = ${light(JOBS, (path) => path.replace(/^\/v1\//, "/v1/queue/"))};`;
      return { contents, loader: "js" };
    });
  },
};

const { outputFiles } = await build({
  absWorkingDir: HERE,
  entryPoints: { console: "src/main.tsx", theme: "src/theme-first.ts", icon: "src/icon.svg" },
  outdir: OUT,
  entryNames: "[name]-[hash]",
  bundle: true,
  minify: true,
  // Classic scripts: the one in the head must run before anything is painted.
  format: "iife",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  loader: { ".svg": "copy" },
  write: false,
  plugins: [endpointsOnly],
  logLevel: "warning",
});

const made = outputFiles.map(({ path }) => basename(path));
const named = (name, ending) => made.find((file) => file.startsWith(`${name}-`) && file.endsWith(ending));
const page = (await readFile(join(HERE, "index.html"), "utf8"))
  .replace("theme.js", named("theme", ".js"))
  .replace("console.css", named("console", ".css"))
  .replace("console.js", named("console", ".js"))
  .replace("icon.svg", named("icon", ".svg"));

/** Whoever reads meanwhile finds the old file or the new one, whole. */
async function put(name, contents) {
  const draft = join(OUT, `.${name}.${process.pid}`);
  await writeFile(draft, contents);
  await rename(draft, join(OUT, name));
}

await mkdir(OUT, { recursive: true });
for (const { path, contents } of outputFiles) await put(basename(path), contents);
await put("index.html", page);
for (const file of await readdir(OUT)) {
  if (file !== "index.html" && !file.startsWith(".") && !made.includes(file))
    await rm(join(OUT, file), { force: true });
}
