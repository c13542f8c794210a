/** STORAGE_URL=ocfl:FOLDER: reads versions from an OCFL storage root, and nothing outside of it. */
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { StoredFile } from "@sluice/inventory";
import { type OcflVersion, parseInventory, type VersionFile } from "./ocfl-inventory.ts";
import { parseProducerFiles, producerFilesToRead } from "./producer-files.ts";
import { asTexts, mimeTypes, parseSystemFiles, SYSTEM_FILES, type SystemTexts } from "./system-files.ts";
import { damaged, type ReadVersion, unavailable, type VersionReader } from "./version-reader.ts";

export const ocflReader = (storageRoot: string): VersionReader => ({
  read: async (manifestUrl) => {
    try {
      return await readVersion(storageRoot, manifestUrl);
    } catch (error) {
      if (isFileSystemError(error)) return unavailable(error.message);
      throw error;
    }
  },
});

async function readVersion(storageRoot: string, manifestUrl: string): Promise<ReadVersion> {
  const path = await inventoryPath(storageRoot, manifestUrl);
  if (path === null) return damaged(`${manifestUrl} is no inventory of the store`);
  const parsed = parseInventory(await readFile(path), await readFile(`${path}.sha512`, "utf8"));
  if (!parsed.ok) return damaged(`${manifestUrl}: ${parsed.problem}`);
  const objectFolder = dirname(dirname(path));
  const { version } = parsed;
  const texts = await readTexts(objectFolder, version);
  if (texts === null) return damaged(`${manifestUrl}: the version lacks one of ${SYSTEM_FILES.join(", ")}`);
  const system = parseSystemFiles(texts);
  if (!system.ok) return damaged(`${manifestUrl}: ${system.problem}`);
  const files = await describeFiles(objectFolder, version);
  const producer = parseProducerFiles(files, await readContents(objectFolder, version, producerFilesToRead(files)));
  if (!producer.ok) return damaged(`${manifestUrl}: ${producer.problem}`);
  const { id: ark, number, created, message: note } = version;
  const facts = { ...system.facts, ...producer.facts };
  return { kind: "read", version: { ark, number, created, note, manifestUrl, files, ...facts } };
}

/** `file:…/vN/inventory.json` below the root. */
async function inventoryPath(storageRoot: string, manifestUrl: string): Promise<string | null> {
  if (!/^file:.*\/v[1-9]\d*\/inventory\.json$/.test(manifestUrl) || !URL.canParse(manifestUrl)) return null;
  const root = await realpath(storageRoot);
  const path = await realpath(fileURLToPath(manifestUrl));
  return path.startsWith(root + sep) ? path : null;
}

async function readTexts(objectFolder: string, version: OcflVersion): Promise<SystemTexts | null> {
  const contents = await readContents(objectFolder, version, SYSTEM_FILES);
  return contents.size < SYSTEM_FILES.length ? null : asTexts(contents);
}

/** Of those that the version has. */
async function readContents(
  objectFolder: string,
  { files }: OcflVersion,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  for (const { path, contentPath } of files)
    if (paths.includes(path)) contents.set(path, await readFile(join(objectFolder, contentPath)));
  return contents;
}

async function describeFiles(objectFolder: string, version: OcflVersion): Promise<StoredFile[]> {
  const mimeTypeOf = await readMimeTypes(objectFolder, version);
  const files: StoredFile[] = [];
  for (const file of version.files) files.push(await describeFile(objectFolder, file, mimeTypeOf));
  return files;
}

async function readMimeTypes(objectFolder: string, version: OcflVersion): Promise<(path: string) => string> {
  const manifest = version.files.find(({ path }) => path === "system/mrt-manifest.txt");
  return mimeTypes(manifest === undefined ? "" : await readFile(join(objectFolder, manifest.contentPath), "utf8"));
}

async function describeFile(
  objectFolder: string,
  { path, contentPath, sha256, sha512, isNew }: VersionFile,
  mimeTypeOf: (path: string) => string,
): Promise<StoredFile> {
  const content = join(objectFolder, contentPath);
  const { size } = await stat(content);
  return {
    path,
    bytes: size,
    isNew,
    contentUrl: pathToFileURL(content).href,
    mimeType: mimeTypeOf(path),
    ...(sha256 === undefined
      ? { digestType: "sha-512", digestValue: sha512 }
      : { digestType: "sha-256", digestValue: sha256 }),
  };
}

const isFileSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  typeof error === "object" && error !== null && "syscall" in error && "code" in error;
