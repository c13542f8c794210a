/**
 * Which blobs the archive names. Files only grow, and most name none: each is searched from where it ended the last time,
 * without reading its lines as runs.
 */
import { open } from "node:fs/promises";

const STEP_BYTES = 1024 * 1024;
const NAMED = /"sha256":"([0-9a-f]{64})"/g;

interface Searched {
  readonly bytes: number;
  readonly names: readonly string[];
}

export class BlobNames {
  #files = new Map<string, Searched>();
  /** Since it was last asked. */
  readonly #changed = new Set<string>();

  async of(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const files = new Map<string, Searched>();
    for (const path of paths) files.set(path, await this.#search(path));
    // Purged ones are forgotten, and what was changed meanwhile.
    for (const path of this.#changed) files.delete(path);
    this.#changed.clear();
    this.#files = files;
    return new Set([...files.values()].flatMap(({ names }) => names));
  }

  /** Something was taken out of these. */
  searchAgain(paths: readonly string[]): void {
    for (const path of paths) {
      this.#files.delete(path);
      this.#changed.add(path);
    }
  }

  async #search(path: string): Promise<Searched> {
    const before = this.#files.get(path) ?? { bytes: 0, names: [] };
    const handle = await open(path).catch(() => null);
    if (handle === null) return before;
    try {
      const names = [...before.names];
      let { bytes } = before;
      for (let length = STEP_BYTES; ;) {
        const more = Buffer.allocUnsafe(length);
        const { bytesRead } = await handle.read(more, 0, length, bytes);
        // A line that is still being written is searched again.
        const whole = more.subarray(0, more.subarray(0, bytesRead).lastIndexOf("\n") + 1);
        for (const [, sha256 = ""] of whole.toString("latin1").matchAll(NAMED)) names.push(sha256);
        bytes += whole.length;
        if (bytesRead < length) return { bytes, names };
        // A line that is longer than what is read at once.
        if (whole.length === 0) length *= 2;
      }
    } finally {
      await handle.close();
    }
  }
}
