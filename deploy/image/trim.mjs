/** Takes out of a deployed package what only a compiler or a reader wants: sources, type declarations, documents. */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Licences stay, whatever they are called. */
const NOT_RUN =
  /^(?!licen[cs]e|notice|copying).*(\.d\.[cm]?ts(\.map)?$|\.(md|markdown)$|\.tsbuildinfo$|^pnpm-lock\.yaml$)/i;
/** Types alone; and the embedded database's binary for another C library than the image has. */
const PACKAGES_NOT_RUN = /^(@types\+|undici-types@|@libsql\+linux-[a-z0-9]+-musl@)/;
const LINKS_NOT_RUN = /\/(@types|undici-types|@libsql\/linux-[a-z0-9]+-musl)$/;

function trim(folder, ours) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const isFolder = lstatSync(path).isDirectory();
    const unwanted = isFolder ? (ours && name === "src") || PACKAGES_NOT_RUN.test(name) : NOT_RUN.test(name);
    if (unwanted || LINKS_NOT_RUN.test(path)) rmSync(path, { recursive: true });
    else if (isFolder) trim(path, isOurs(path));
  }
}

/** Packages of others may well run what stands in their `src`. */
const isOurs = (path) => /\/node_modules\/@sluice\/[^/]+$/.test(path);

trim(process.argv[2], true);
