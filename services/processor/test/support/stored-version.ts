import { expect } from "@jest/globals";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JobChanges } from "@sluice/queue-core";
import type { Attempt, Deposit } from "./deposit.ts";

export function changesOf(attempt: Attempt): JobChanges {
  expect(attempt).toMatchObject({ kind: "done" });
  return (attempt as { changes: JobChanges }).changes;
}

/** The folder of the version that an attempt stored, and its logical files. */
export function storedVersion(attempt: Attempt): { readonly paths: string[]; readonly text: (path: string) => string } {
  const inventoryPath = fileURLToPath(changesOf(attempt).inventory!.manifest_url);
  const inventory = JSON.parse(readFileSync(inventoryPath, "utf8")) as {
    head: string;
    manifest: Record<string, string[]>;
    versions: Record<string, { state: Record<string, string[]> }>;
  };
  const state = Object.entries(inventory.versions[inventory.head]!.state);
  const digestOf = new Map(state.flatMap(([digest, paths]) => paths.map((path) => [path, digest])));
  const root = dirname(dirname(inventoryPath));
  return {
    paths: [...digestOf.keys()].sort(),
    text: (path) => readFileSync(join(root, inventory.manifest[digestOf.get(path)!]![0]!), "utf8"),
  };
}

export const objectManifest = (rows: readonly string[]): string =>
  [
    "#%checkm_0.7",
    "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-ingest-manifest",
    "#%prefix | mrt: | http://merritt.cdlib.org/terms#",
    "#%prefix | nfo: | http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#",
    "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | mrt:mimeType",
    ...rows,
    "#%eof",
    "",
  ].join("\n");

/** An object of several files, whose manifest names them and nothing more. */
export const objectOf = (files: Readonly<Record<string, string>>, more: Partial<Deposit> = {}): Deposit => ({
  files,
  manifest: objectManifest(Object.keys(files).map((name) => `http://content.example.org/x | | | | | ${name} |`)),
  ...more,
  configuration: { payload_type: "manifest", ...more.configuration },
});
