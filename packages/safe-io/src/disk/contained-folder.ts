import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, readdir, realpath, rename, rm, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";

import { failure, type Outcome, success } from "../outcome.ts";
import { attempt } from "./fault.ts";
import { parseName, TEMP_PREFIX } from "./names.ts";
import { createForWriting, openForReading, syncFolder, walkTo } from "./safe-open.ts";
import { type FileEntry, listFiles } from "./walk.ts";

export interface FileFacts {
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** A file on its way: it has no name until it is whole. */
export interface UnfinishedFile {
  readonly handle: FileHandle;
  /** Written to disk and given its name, replacing what was there. */
  finish(): Promise<Outcome<void>>;
  /** Kept under another name, as evidence: it is not what it should be. */
  setAside(folder: ContainedFolder, name: string): Promise<Outcome<void>>;
  abandon(): Promise<void>;
}

/**
 * A folder that nothing leaves: names are checked, links are not followed in any component, files appear whole or not at
 * all. Whoever may put links into the folder while we work in it is inside the wall already; the walk guards against
 * links that a deposit brought.
 */
export class ContainedFolder {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  /** Makes the folder if it is not there. Links on the way to it are the operator's own and are followed. */
  static open(root: string): Promise<Outcome<ContainedFolder>> {
    return attempt(root, async () => {
      await mkdir(root, { recursive: true, mode: 0o750 });
      return new ContainedFolder(await realpath(root));
    });
  }

  /** The path that a name stands for, without looking at the disk. */
  pathOf(name: string): Outcome<string> {
    const components = parseName(name);
    return components.ok ? success(join(this.root, ...components.value)) : components;
  }

  /** A folder inside, made if it is not there. */
  sub(name: string): Promise<Outcome<ContainedFolder>> {
    return this.#within(name, async (components) => new ContainedFolder(await walkTo(this.root, components, true)));
  }

  stat(name: string): Promise<Outcome<FileFacts>> {
    return this.#within(name, async (components) => {
      const stat = await lstat(await walkTo(this.root, components, false));
      return { bytes: stat.size, modifiedMs: stat.mtimeMs };
    });
  }

  read(name: string): Promise<Outcome<Buffer>> {
    return this.#within(name, async (components) => {
      const handle = await openForReading(await walkTo(this.root, components, false));
      try {
        return await handle.readFile();
      } finally {
        await handle.close();
      }
    });
  }

  /** For reading here and there; whoever opens it closes it. */
  open(name: string): Promise<Outcome<FileHandle>> {
    return this.#within(name, async (components) => openForReading(await walkTo(this.root, components, false)));
  }

  /** The stream closes the file. */
  async readStream(name: string): Promise<Outcome<Readable>> {
    const handle = await this.open(name);
    return handle.ok ? success(createReadStream("", { fd: handle.value })) : handle;
  }

  /** Whole or not at all, and on disk when it answers. */
  async write(name: string, data: string | Uint8Array): Promise<Outcome<void>> {
    const file = await this.begin(name);
    if (!file.ok) return file;
    const written = await attempt(name, () => file.value.handle.writeFile(data));
    if (written.ok) return file.value.finish();
    await file.value.abandon();
    return written;
  }

  /** Opens an unfinished file next to where it will be; its folders are made. */
  async begin(name: string): Promise<Outcome<UnfinishedFile>> {
    const target = await this.placeFor(name);
    if (!target.ok) return target;
    return attempt(name, async () => {
      const temporary = join(dirname(target.value), TEMP_PREFIX + randomUUID());
      return unfinished(await createForWriting(temporary), temporary, { name, path: target.value });
    });
  }

  /** All files, in the order of their names. Links make it fail. */
  files(): Promise<Outcome<readonly FileEntry[]>> {
    return attempt(this.root, () => listFiles(this.root));
  }

  /** Removes a file or a whole tree; nothing there is fine too. */
  async remove(name: string): Promise<Outcome<void>> {
    const removed = await this.#within(name, async (components) => {
      const parent = await walkTo(this.root, components.slice(0, -1), false);
      await rm(join(parent, components.at(-1) ?? ""), { recursive: true, force: true });
    });
    return !removed.ok && removed.error.code === "NOT_FOUND" ? success(undefined) : removed;
  }

  /** Removes all that is in it, unfinished files too. */
  clear(): Promise<Outcome<void>> {
    return attempt(this.root, async () => {
      for (const name of await readdir(this.root)) await rm(join(this.root, name), { recursive: true, force: true });
    });
  }

  isEmpty(): Promise<Outcome<boolean>> {
    return attempt(this.root, async () => (await readdir(this.root)).length === 0);
  }

  /** Where a file of this name would be; its folders are made. */
  placeFor(name: string): Promise<Outcome<string>> {
    return this.#within(name, async (components) => {
      const folder = await walkTo(this.root, components.slice(0, -1), true);
      return join(folder, components.at(-1) ?? "");
    });
  }

  /** Moves a file or a tree in one step, on the same volume; a target that is already there is refused. */
  async move(name: string, target: ContainedFolder, targetName: string): Promise<Outcome<void>> {
    const goal = parseName(targetName);
    if (!goal.ok) return goal;
    const there = await target.stat(targetName);
    if (there.ok) return failure({ code: "ALREADY_THERE", message: `${targetName} is there`, retryable: false });
    return this.#within(name, async (components) => {
      const from = await walkTo(this.root, components, false);
      const folder = await walkTo(target.root, goal.value.slice(0, -1), true);
      await rename(from, join(folder, goal.value.at(-1) ?? ""));
      await syncFolder(folder);
      await syncFolder(dirname(from));
    });
  }

  #within<T>(name: string, operation: (components: readonly string[]) => Promise<T>): Promise<Outcome<T>> {
    const components = parseName(name);
    if (!components.ok) return Promise.resolve(components);
    return attempt(name, () => operation(components.value));
  }
}

/** Messages reach depositors: they speak of names, not of paths on our disk. */
interface Place {
  readonly name: string;
  readonly path: string;
}

function unfinished(handle: FileHandle, temporary: string, target: Place): UnfinishedFile {
  const abandon = async (): Promise<void> => {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
  };
  const finishAs = async ({ name, path }: Place): Promise<Outcome<void>> => {
    const finished = await attempt(name, async () => {
      await handle.sync();
      await handle.close();
      await rename(temporary, path);
      await syncFolder(dirname(path));
    });
    if (!finished.ok) await abandon();
    return finished;
  };
  return {
    handle,
    abandon,
    finish: () => finishAs(target),
    setAside: async (folder, name) => {
      const place = await folder.placeFor(name);
      if (place.ok) return finishAs({ name, path: place.value });
      await abandon();
      return place;
    },
  };
}
