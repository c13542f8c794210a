/** What the processes of the job queue know in common, below the data folder. */
import { randomBytes } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type RoleTokens, SERVICES_ROLES } from "@sluice/access";

const SECRET_BYTES = 32;

export const peerSecretFile = (dataDir: string): string => join(dataDir, "job-peer-secret");

/** Each service's token for others, with the least role. */
export const serviceTokenFile = (dataDir: string, role: ServiceRole): string => join(dataDir, `${role}-token`);
type ServiceRole = (typeof SERVICES_ROLES)[number];

/** The peers' secret is that of the last start, if there is one: processes that still run know it. */
export async function prepareJobSecrets(dataDir: string, tokens: RoleTokens): Promise<void> {
  const known = await readFile(peerSecretFile(dataDir), "utf8").catch(() => "");
  await keepSecret(peerSecretFile(dataDir), known === "" ? randomBytes(SECRET_BYTES).toString("hex") : known);
  for (const role of SERVICES_ROLES) await keepSecret(serviceTokenFile(dataDir, role), tokens[role]);
}

async function keepSecret(path: string, secret: string): Promise<void> {
  await writeFile(path, secret, { mode: 0o600 });
  await chmod(path, 0o600);
}
