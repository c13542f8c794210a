import { createHash } from "node:crypto";
import { join } from "node:path";
import type { StoreContext, StoreFile, StoreRequest } from "../../src/store/object-store.ts";
import { write } from "./hand-made-object.ts";

export const ARK = "ark:/99999/fk4test";

/** Files on disk, as a processor hands them to its store. */
export function storeFiles(folder: string, contents: Readonly<Record<string, string>>): StoreFile[] {
  return Object.entries(contents).map(([logicalPath, text]) => {
    const source = join(folder, logicalPath);
    write(source, text);
    const digest = (algorithm: string): string => createHash(algorithm).update(text).digest("hex");
    const size = Buffer.byteLength(text);
    return { logicalPath, source, size, sha256: digest("sha256"), sha512: digest("sha512") };
  });
}

export const storeRequest = (files: StoreFile[], with_: Partial<StoreRequest> = {}): StoreRequest => ({
  ark: ARK,
  job: "jid-00000001-0000-8000-8000-000000000001",
  mode: "add",
  fresh: false,
  writer: { owner: "ark:/99999/fk4owner", collections: ["ark:/99999/fk4collection"], updatesCollections: [] },
  // The caller has looked at whatever is there.
  judged: Number.POSITIVE_INFINITY,
  node: undefined,
  deletes: [],
  note: "jid0000000001 of bid0000000001",
  user: "Ann <ann@example.org>",
  created: "2026-02-03T04:05:06.000Z",
  files,
  ...with_,
});

export const calm: StoreContext = { signal: new AbortController().signal, checkpoint: () => Promise.resolve() };

export class Crash extends Error {}

/** Counts the steps it is told of, and dies at the `at`-th: as if the process had been killed there. */
export function crashing(at: number): StoreContext & { readonly steps: string[] } {
  const steps: string[] = [];
  return {
    signal: calm.signal,
    steps,
    checkpoint(step) {
      steps.push(step);
      return steps.length === at ? Promise.reject(new Crash(step)) : Promise.resolve();
    },
  };
}
