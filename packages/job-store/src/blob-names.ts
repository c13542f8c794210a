/**
 * Which blobs the archive names. Files only grow, and most name none: each is searched from where it ended the last time,
 * without reading its lines as runs.
 */
import { open } from "node:fs/promises";

const NAMED = /"sha256":"([0-9a-f]{64})"/g;

interface Searched {
  readonly bytes: number;
  readonly names: readonly string[];
}

export class BlobNames {
  #files = new Map<string, Searched>();

  async of(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const files = new Map<string, Searched>();
    for (const path of paths) files.set(path, await this.#search(path));
    // Purged ones are forgotten.
    this.#files = files;
    return new Set([...files.values()].flatMap(({ names }) => names));
  }

  async #search(path: string): Promise<Searched> {
    const before = this.#files.get(path) ?? { bytes: 0, names: [] };
    const handle = await open(path).catch(() => null);
    if (handle === null) return before;
    try {
      const { size } = await handle.stat();
      if (size <= before.bytes) return before;
      const more = Buffer.alloc(size - before.bytes);
      const { bytesRead } = await handle.read(more, 0, more.length, before.bytes);
      // A line that is still being written is searched again.
      const whole = more.subarray(0, more.lastIndexOf("\n", bytesRead - 1) + 1);
      const found = [...whole.toString("latin1").matchAll(NAMED)].map(([, sha256 = ""]) => sha256);
      return { bytes: before.bytes + whole.length, names: [...before.names, ...found] };
    } finally {
      await handle.close();
    }
  }
}
