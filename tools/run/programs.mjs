/**
 * Makes each program one file (and chunks that several share) in dist/programs: Node starts it in a third of the CPU
 * time that hundreds of modules take. `npm start` and the tests start these files; images keep the compiler's output.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const OUT = join(ROOT, "dist", "programs");
/** These load files or native code from beside themselves. */
const LEFT_OUTSIDE = /^(libsql|pino|dockerode|testcontainers|playwright-core)$/;
const RESOLVING = { leaveOutside: false };

const fromOut = (path) => relative(OUT, path).replaceAll("\\", "/");

/** pnpm lets only the importing package see its dependencies, so what stays outside is imported by its place. */
const outside = {
  name: "outside",
  setup(bundle) {
    bundle.onResolve({ filter: LEFT_OUTSIDE }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === RESOLVING) return undefined;
      const found = await bundle.resolve(path, { kind, resolveDir, pluginData: RESOLVING });
      return { path: fromOut(found.path), external: true, errors: found.errors };
    });
  },
};

/** A module in a bundle still finds the files beside its source, wherever the checkout stands. */
const ownUrls = {
  name: "own-urls",
  setup(bundle) {
    bundle.onLoad({ filter: /\/(packages|services|tools)\/[^/]+\/src\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      if (!source.includes("import.meta.url")) return undefined;
      const own = `new URL(${JSON.stringify(fromOut(path))}, import.meta.url).href`;
      return { contents: source.replaceAll("import.meta.url", own), loader: "ts" };
    });
  },
};

async function programs() {
  const services = await readdir(join(ROOT, "services"));
  const mains = services.map((name) => [name, join(ROOT, "services", name, "src", "main.ts")]);
  return Object.fromEntries(
    [...mains, ["fleet", join(ROOT, "tools/fleet/src/main.ts")]].filter(([, main]) => existsSync(main)),
  );
}

const { outputFiles } = await build({
  entryPoints: await programs(),
  absWorkingDir: ROOT,
  outdir: OUT,
  bundle: true,
  splitting: true,
  write: false,
  format: "esm",
  platform: "node",
  target: "node20.19",
  conditions: ["source"],
  sourcemap: "linked",
  sourcesContent: false,
  keepNames: true,
  // Packages in CommonJS ask for Node's own modules by require.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
  plugins: [outside, ownUrls],
});
await mkdir(OUT, { recursive: true });
// Chunks first: a program that starts just now finds all that it names.
for (const { path, contents } of outputFiles.sort((a, b) => Number(isChunk(b.path)) - Number(isChunk(a.path)))) {
  if (!existsSync(path) || !(await readFile(path)).equals(contents)) await writeFile(path, contents);
}
const made = new Set(outputFiles.map(({ path }) => basename(path)));
for (const name of await readdir(OUT)) if (!made.has(name)) await rm(join(OUT, name));

function isChunk(path) {
  return basename(path).startsWith("chunk-");
}
