/** A token for each role, for development: plain in fleet.json, hashed in the file that the services read. */
import { randomBytes } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mintRoleTokens, parseToken, parseTokenFile, ROLES, type RoleTokens } from "@sluice/access";
import { z } from "zod";

/** What the sample is submitted to, and so the depositor's. */
const DEPOSITORS_COLLECTION = "sluice_demo_content";
const LIFE_MS = 365 * 86_400_000;
const KnownTokens = z.object({ tokens: z.record(z.enum(ROLES), z.string()) });

export const tokensFile = (dataDir: string): string => join(dataDir, "tokens.json");

/** Those of the last start, as long as they work: scripts and browsers keep theirs. */
export async function prepareTokens(dataDir: string, nowMs: number): Promise<RoleTokens> {
  const known = await knownTokens(dataDir, nowMs);
  if (known !== null) return known;
  const { tokens, file } = mintRoleTokens({
    depositorsCollection: DEPOSITORS_COLLECTION,
    createdBy: "npm start",
    nowMs,
    lifeMs: LIFE_MS,
    random: randomBytes,
  });
  const path = tokensFile(dataDir);
  await writeFile(path, file, { mode: 0o600 });
  await chmod(path, 0o600);
  return tokens;
}

async function knownTokens(dataDir: string, nowMs: number): Promise<RoleTokens | null> {
  const [hashed, plain] = await Promise.all(
    [tokensFile(dataDir), join(dataDir, "fleet.json")].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const records = parseTokenFile(hashed ?? "");
  const known = KnownTokens.safeParse(parsed(plain ?? ""));
  if (!records.ok || !known.success) return null;
  const work = ROLES.every((role) => {
    const record = records.tokens.get(parseToken(known.data.tokens[role])?.id ?? "");
    return record?.role === role && Date.parse(record.expires) > nowMs;
  });
  return work ? known.data.tokens : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
