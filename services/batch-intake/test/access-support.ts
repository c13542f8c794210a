/** Tokens of every role, in a file as an intake reads it. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeAuthenticator, mintToken, openTokenFile, printTokenFile, type TokenRecord } from "@sluice/access";
import type { WallOptions } from "@sluice/http-api";
import { type Cleanups, temporaryFolder } from "./support.ts";

export interface TestToken {
  readonly token: string;
  readonly record: TokenRecord;
  /** For a request. */
  readonly headers: { readonly authorization: string };
}

export function aToken(
  role: TokenRecord["role"],
  collections: readonly string[] = ["*"],
  name = `${role} Ada`,
): TestToken {
  const { id, token, hash } = mintToken(randomBytes);
  const times = { created: "2026-01-01T00:00:00Z", expires: "2099-01-01T00:00:00Z" };
  const record = { id, name, role, collections: [...collections], hash, created_by: "test", ...times };
  return { token, record, headers: { authorization: `Bearer ${token}` } };
}

export async function tokensFile(cleanups: Cleanups, tokens: readonly TestToken[]): Promise<string> {
  const file = join(await temporaryFolder(cleanups), "tokens.json");
  await writeFile(file, printTokenFile(tokens.map(({ record }) => record)));
  return file;
}

/** The wall of an intake whose only tokens are these. */
export async function wallFor(
  cleanups: Cleanups,
  tokens: readonly TestToken[],
): Promise<Pick<WallOptions, "authenticator">> {
  const file = openTokenFile(await tokensFile(cleanups, tokens), {
    onProblem: (problem) => {
      throw new Error(problem);
    },
  });
  return {
    authenticator: makeAuthenticator({ tokens: file, jwt: null, nowMs: () => Date.UTC(2026, 0, 2), basic: true }),
  };
}
