/** The key that signs what is archived of the audit, below the data folder; that of the last start, if there is one. */
import { generateKeyPairSync } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const auditKeyFile = (dataDir: string): string => join(dataDir, "audit-key.pem");
export const auditPublicKeysFile = (dataDir: string): string => join(dataDir, "audit-public-keys.pem");

export async function prepareAuditKey(dataDir: string): Promise<void> {
  const known = await readFile(auditKeyFile(dataDir), "utf8").catch(() => "");
  if (known !== "") return;
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  // The public part first: a key whose signatures nobody can check is worth nothing.
  await writeFile(auditPublicKeysFile(dataDir), publicKey.export({ type: "spki", format: "pem" }));
  await writeFile(auditKeyFile(dataDir), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await chmod(auditKeyFile(dataDir), 0o600);
}
