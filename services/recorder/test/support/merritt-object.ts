import { createHash } from "node:crypto";
import type { StorageServer } from "@sluice/testkit";
import { ARK, type Deposit, systemFilesOf } from "./stored-object.ts";

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Paths as they are in the store: `producer/…`. */
export type MerrittDeposit = Omit<Deposit, "files"> & { readonly files: Readonly<Record<string, string | Buffer>> };

/** As the storage service has it after an update: the producer's files stay, ours are new. */
export function addMerrittVersion(storage: StorageServer, { files, ...deposit }: MerrittDeposit): void {
  const versions = storage.objects.get(ARK) ?? [];
  const contentOf = versions.length + 1;
  const kept = [...(versions.at(-1) ?? [])].filter(([path]) => path.startsWith("producer/"));
  const fresh = Object.entries({ ...files, ...systemFilesOf(ARK, deposit) }).map(([path, content]) => {
    const bytes = Buffer.from(content);
    return [path, { sha256: sha256(bytes), bytes, mimeType: "text/x-test", contentOf }] as const;
  });
  storage.objects.set(ARK, [...versions, new Map([...kept, ...fresh])]);
}
