/** An audit with as many records as a test needs, a key, and an archive on disk. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Inventory, openInventory } from "@sluice/inventory";
import { act, readAnchorSigner, readAnchorVerifier } from "@sluice/queue-core";
import type { TestWorker } from "@sluice/testkit";
import { type Shortened, type ShortenParts, shortenAudit } from "../src/audit/shorten-audit.ts";
import { handlerContext } from "./support.ts";

/** Everything that may go is old enough. */
const DUE_AT_ONCE_MS = -3_600_000;

export function aKey() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const [signer, publicPem] = [readAnchorSigner(pem), publicKey.export({ type: "spki", format: "pem" }).toString()];
  if (!signer.ok) throw new Error(signer.problem);
  return { pem, publicPem, signer: signer.value };
}

export const verifierOf = (...pems: readonly string[]) => {
  const read = readAnchorVerifier(pems.join("\n"));
  if (!read.ok) throw new Error(read.problem);
  return read.value;
};

export async function addRecords(worker: TestWorker, count: number): Promise<void> {
  const who = { name: "olga", reason: "a test" };
  for (let i = 0; i < count; i++) {
    const done = await act(worker.ctx, who, "test", `thing-${i}`, () => Promise.resolve({ kind: "go", ops: [] }));
    if (done.kind !== "applied") throw new Error(done.kind);
  }
}

export interface AuditBench {
  readonly inventory: Inventory;
  /** Of the inventory. */
  readonly file: string;
  readonly key: ReturnType<typeof aKey>;
  readonly anotherInventory: () => Promise<Inventory>;
  shorten(overrides?: Partial<ShortenParts>, failAt?: string): Promise<Shortened>;
  close(): Promise<void>;
}

export async function auditBench(worker: TestWorker): Promise<AuditBench> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-audit-"));
  const opened: Inventory[] = [];
  const open = async (): Promise<Inventory> => {
    const one = await openInventory({ kind: "sqlite", file: join(folder, `${opened.length}.db`) });
    opened.push(one);
    return one;
  };
  const inventory = await open();
  const key = aKey();
  return {
    inventory,
    file: join(folder, "0.db"),
    key,
    anotherInventory: open,
    shorten: (overrides = {}, failAt = "") => {
      const parts: ShortenParts = {
        archive: inventory,
        key: () => Promise.resolve({ ok: true, value: key.signer }),
        retentionMs: DUE_AT_ONCE_MS,
        lostUpTo: 0,
        ...overrides,
      };
      const failpoint = (name: string) =>
        name === failAt ? Promise.reject(new Error(`dead at ${name}`)) : Promise.resolve();
      return shortenAudit(parts, { ...handlerContext(), failpoint, queue: worker.ctx });
    },
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
      await rm(folder, { recursive: true });
    },
  };
}
