/** What the processes of the job queue know in common, below the data folder. */
import { randomBytes } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SECRET_BYTES = 32;

export const peerSecretFile = (dataDir: string): string => join(dataDir, "job-peer-secret");

export const runnerTokenFile = (dataDir: string): string => join(dataDir, "job-runner-token");

/** The peers' secret is that of the last start, if there is one: processes that still run know it. */
export async function prepareJobSecrets(dataDir: string, adminToken: string): Promise<void> {
  const known = await readFile(peerSecretFile(dataDir), "utf8").catch(() => "");
  await keepSecret(peerSecretFile(dataDir), known === "" ? randomBytes(SECRET_BYTES).toString("hex") : known);
  // The fleet's own jobs are for admins.
  await keepSecret(runnerTokenFile(dataDir), adminToken);
}

async function keepSecret(path: string, secret: string): Promise<void> {
  await writeFile(path, secret, { mode: 0o600 });
  await chmod(path, 0o600);
}
