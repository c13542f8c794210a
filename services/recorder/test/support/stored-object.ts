/** Versions of an object in an OCFL store, written out by hand as the processor's contract says. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { printErc, printIngestFile, printMembership, printMom, printOwner } from "@sluice/ingest-formats";
import { type JobId, jobId, jobUuid } from "@sluice/queue-core";

export const ARK = "ark:/99999/fk4object";
export const OWNER = "ark:/99999/fk4owner";
export const COLLECTION = "ark:/99999/fk4collection";
export const uuidOf = (id: JobId): string => jobUuid(id, "a-history");

export interface Deposit {
  readonly ark?: string;
  readonly job?: number;
  readonly files?: Readonly<Record<string, string>>;
  readonly localIds?: readonly string[];
  readonly who?: string;
  readonly owner?: string;
  /** It was deposited for. */
  readonly collection?: string;
  readonly storageNode?: string;
}

interface Inventory {
  id: string;
  head: string;
  manifest: Record<string, string[]>;
  versions: Record<string, { created: string; message: string; state: Record<string, string[]> }>;
  fixity: { sha256: Record<string, string[]> };
}

const digest = (algorithm: string, text: string): string => createHash(algorithm).update(text).digest("hex");

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The texts that the processor adds to every version. */
export function systemFilesOf(
  ark: string,
  { job = 1, localIds = [], who = "Ann", owner = OWNER, collection, storageNode }: Deposit,
): Record<string, string> {
  const ingest = {
    batch: "bid0000000001",
    job: uuidOf(jobId(job)),
    file: "hello.txt",
    type: "file",
    profile: "library_content",
    submissionDate: "2026-02-01T00:00:00Z",
    storageService: "file:///srv/store",
    ...(storageNode === undefined ? {} : { storageNode }),
    ...(collection === undefined ? {} : { collection }),
  };
  return withFolder("system", {
    "mrt-owner.txt": printOwner(owner),
    "mrt-membership.txt": printMembership([collection ?? COLLECTION]),
    "mrt-mom.txt": printMom({ type: "MRT-curatorial", role: "MRT-content", primaryId: ark, localIds }),
    "mrt-erc.txt": printErc({ who, what: "Hello", primaryId: ark, localIds }),
    "mrt-ingest.txt": printIngestFile(ingest),
  });
}

const manifestRow = (name: string): string =>
  ["file:///x", "sha256", "x", "5", "", `producer/${name}`, "text/x-hello"].join(" | ");
/** A cell cannot carry a bar: it is escaped in the name. */
const MANIFEST = `#%checkm_0.7\n${manifestRow("hello.txt")}\n${manifestRow("a%7Cb.bin")}\n#%eof\n`;

/** An object that grows by one version at a time; producer files stay. */
export class StoredObject {
  readonly folder: string;
  readonly #inventory: Inventory;
  readonly #ark: string;

  constructor(root: string, ark = ARK) {
    this.#ark = ark;
    this.folder = join(root, digest("sha256", ark));
    this.#inventory = { id: ark, head: "v0", manifest: {}, versions: {}, fixity: { sha256: {} } };
  }

  /** Answers with the URL of the version's inventory. */
  addVersion(deposit: Deposit = {}): string {
    const number = Object.keys(this.#inventory.versions).length + 1;
    const files = {
      ...withFolder("producer", deposit.files ?? { "hello.txt": "hello" }),
      ...systemFilesOf(this.#ark, deposit),
      "system/mrt-manifest.txt": MANIFEST,
    };
    this.#inventory.head = `v${number}`;
    const state = number === 1 ? {} : producerFilesOf(this.#inventory.versions[`v${number - 1}`]!.state);
    for (const [path, text] of Object.entries(files)) this.#place(path, text, state);
    const created = `2026-02-0${number}T03:04:05Z`;
    this.#inventory.versions[`v${number}`] = { created, message: `version ${number}`, state };
    return this.writeInventory(JSON.stringify(this.#inventory));
  }

  writeInventory(text: string, sidecarOf = text): string {
    const path = join(this.folder, this.#inventory.head, "inventory.json");
    write(path, text);
    write(`${path}.sha512`, `${digest("sha512", sidecarOf)} inventory.json\n`);
    return pathToFileURL(path).href;
  }

  get inventory(): Inventory {
    return structuredClone(this.#inventory);
  }

  #place(path: string, text: string, state: Record<string, string[]>): void {
    const sha512 = digest("sha512", text);
    for (const paths of Object.values(state)) if (paths.includes(path)) paths.splice(paths.indexOf(path), 1);
    (state[sha512] ??= []).push(path);
    if (this.#inventory.manifest[sha512] !== undefined) return;
    const contentPath = `${this.#inventory.head}/content/${path}`;
    write(join(this.folder, contentPath), text);
    this.#inventory.manifest[sha512] = [contentPath];
    this.#inventory.fixity.sha256[digest("sha256", text)] = [contentPath];
  }
}

const withFolder = (folder: string, files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

const producerFilesOf = (state: Record<string, string[]>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(state)
      .map(([key, paths]) => [key, paths.filter((path) => path.startsWith("producer/"))] as const)
      .filter(([, paths]) => paths.length > 0),
  );
