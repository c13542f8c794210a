/** The secrets of a compose fleet, as files: made once, kept as long as the fleet's data. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mintRoleTokens, parseTokenFile, printTokenFile, ROLES, type RoleTokens, SERVICES_ROLES } from "@sluice/access";
import { z } from "zod";

export interface SecretsOptions {
  readonly folder: string;
  /** Where the services find MariaDB. */
  readonly database: { readonly host: string; readonly port: number };
}

const YEAR_MS = 365 * 86_400_000;
/** What the sample profile is called. */
const COLLECTION = "sluice_demo_content";
const PLAIN_TOKENS = "tokens.json";
const Tokens = z.partialRecord(z.enum(ROLES), z.string());

/** Answers with the tokens in plain text: for whoever started the fleet. */
export async function provideSecrets({ folder, database }: SecretsOptions): Promise<RoleTokens> {
  // Compose mounts the files as they are, and the services run as somebody else: the folder keeps others out, the files do not.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const password = await keep(folder, "mariadb_password", newPassword);
  await keep(folder, "mariadb_root_password", newPassword);
  await keep(folder, "grafana_password", newPassword);
  const url = `mysql://sluice:${password}@${database.host}:${database.port}/inventory`;
  await keep(folder, "inventory_url", () => url);
  const key = await keep(folder, "audit_key", newAuditKey);
  await keep(folder, "audit_public_keys", () => publicPart(key));
  const tokens = await provideTokens(folder);
  for (const role of SERVICES_ROLES) await write(folder, `${role}_token`, tokens[role], 0o444);
  return tokens;
}

async function provideTokens(folder: string): Promise<RoleTokens> {
  const plain = join(folder, PLAIN_TOKENS);
  const known = existsSync(plain) ? Tokens.parse(JSON.parse(await readFile(plain, "utf8"))) : {};
  const before = existsSync(join(folder, "auth_tokens")) ? await readFile(join(folder, "auth_tokens"), "utf8") : "";
  const minted = mintRoleTokens({
    depositorsCollection: COLLECTION,
    createdBy: "npm run compose",
    nowMs: Date.now(),
    lifeMs: YEAR_MS,
    random: randomBytes,
  });
  // A fleet that is older than a role keeps the tokens that it has.
  const missing = ROLES.filter((role) => known[role] === undefined);
  const tokens = { ...minted.tokens, ...known };
  if (missing.length === 0) return tokens;
  const records = [before, minted.file]
    .map((text) => parseTokenFile(text))
    .map((read) => (read.ok ? [...read.tokens.values()] : []));
  const [kept = [], made = []] = records;
  await write(
    folder,
    "auth_tokens",
    printTokenFile([...kept, ...made.filter(({ role }) => missing.includes(role))]),
    0o444,
  );
  await write(folder, PLAIN_TOKENS, `${JSON.stringify(tokens, null, 2)}\n`, 0o400);
  return tokens;
}

const newAuditKey = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const publicPart = (pem: string): string =>
  createPublicKey(createPrivateKey(pem)).export({ type: "spki", format: "pem" }).toString();

const newPassword = (): string => randomBytes(18).toString("hex");

async function keep(folder: string, name: string, make: () => string): Promise<string> {
  const path = join(folder, name);
  if (existsSync(path)) return (await readFile(path, "utf8")).trim();
  const value = make();
  await write(folder, name, value, 0o444);
  return value;
}

async function write(folder: string, name: string, text: string, mode: number): Promise<void> {
  // Not into the file that is there: nobody may write it.
  await rm(join(folder, name), { force: true });
  await writeFile(join(folder, name), text, { mode });
  // Whatever the umask took away: a service that cannot read its secret does not start.
  await chmod(join(folder, name), mode);
}
