/** The stamp of a folder: a small file in it that says which fleet's state the folder holds. Whole or not there, and on disk when it counts. */
import type { FleetStamp } from "@sluice/queue-core";
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { StampedPart } from "./stamped-part.ts";

const Stamp = z.looseObject({ fleet: z.string().min(1), epoch: z.number().int().min(1) });

export interface StampedFolderOptions {
  /** For people: `the working folder`. */
  readonly name: string;
  readonly folder: string;
  /** Below the folder. */
  readonly file?: string;
  /** false: it is only looked into here, and stamped by others. */
  readonly writes?: boolean;
  /** What else stands in the file. */
  readonly more?: Readonly<Record<string, string>>;
}

export function stampedFolder({
  name,
  folder,
  file = "fleet.json",
  more = {},
  writes = true,
}: StampedFolderOptions): StampedPart {
  const path = join(folder, file);
  return {
    name: `${name} ${folder}`,
    async read() {
      const text = await readFile(path, "utf8").catch((error: unknown) => {
        if (codeOf(error) === "ENOENT") return null;
        throw error;
      });
      if (text === null) return { kind: "read", stamp: null };
      const { fleet, epoch } = Stamp.parse(JSON.parse(text));
      return { kind: "read", stamp: { fleet, epoch } };
    },
    ...(writes && { write: (stamp, before) => writeStamp(path, { ...more, ...stamp }, before) }),
  };
}

/**
 * An OCFL 1.1 storage root has no files of ours beside its own: what a local extension says of it stands in the
 * configuration of that extension.
 */
export const stampedOcflRoot = (
  folder: string,
  { writes = true }: Pick<StampedFolderOptions, "writes"> = {},
): StampedPart =>
  stampedFolder({
    name: "the storage root",
    folder,
    file: "extensions/sluice-fleet/config.json",
    writes,
    more: {
      extensionName: "sluice-fleet",
      description: "Which fleet stores its objects here, and the epoch of its queue.",
    },
  });

/** Several services stamp one folder at the same time: the first one names the fleet, the others find it when they look again. */
async function writeStamp(path: string, content: FleetStamp, before: FleetStamp | null): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const aside = join(folder, `.stamp-${randomBytes(6).toString("hex")}`);
  const handle = await open(aside, "wx", 0o640);
  try {
    await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (before === null) await putFirst(aside, path);
  else await rename(aside, path);
  await syncFolder(folder);
  await syncFolder(dirname(folder));
}

/** Not every file system of a volume has links. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

async function putFirst(aside: string, path: string): Promise<void> {
  try {
    await link(aside, path);
  } catch (error) {
    const code = codeOf(error);
    if (WITHOUT_LINKS.has(code)) {
      await rename(aside, path);
      return;
    }
    if (code !== "EEXIST") throw error;
  }
  await unlink(aside);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
