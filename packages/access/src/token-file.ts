/** Tokens in a file, hashed: the first admin's, and those that must work while ZooKeeper is away. Re-read when it changes. */
import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import { type TokenRecord, TokenRecordSchema } from "./token-record.ts";
import type { TokenSource } from "./token-source.ts";

const FileSchema = z.object({ tokens: z.array(TokenRecordSchema) });

export interface TokenFileOptions {
  /** Told once per version of the file; the version before it stays in use. */
  readonly onProblem: (problem: string) => void;
}

export type ParsedTokenFile =
  | { readonly ok: true; readonly tokens: ReadonlyMap<string, TokenRecord> }
  | { readonly ok: false; readonly problem: string };

export function parseTokenFile(text: string): ParsedTokenFile {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return { ok: false, problem: "it is not JSON" };
  }
  const parsed = FileSchema.safeParse(raw);
  if (!parsed.success) {
    const first = parsed.error.issues[0];
    return { ok: false, problem: `${first?.path.join(".") ?? ""}: ${first?.message ?? "invalid"}` };
  }
  return { ok: true, tokens: new Map(parsed.data.tokens.map((token) => [token.id, token])) };
}

export const printTokenFile = (tokens: readonly TokenRecord[]): string => `${JSON.stringify({ tokens }, null, 2)}\n`;

export function openTokenFile(path: string, { onProblem }: TokenFileOptions): TokenSource {
  let tokens: ReadonlyMap<string, TokenRecord> = new Map();
  let version = "";
  const look = async (): Promise<void> => {
    const info = await stat(path, { bigint: true }).catch(() => null);
    const now = info === null ? "missing" : `${info.ino}.${info.mtimeNs}.${info.size}`;
    if (now === version) return;
    version = now;
    if (info === null) {
      onProblem(`${path} cannot be read`);
      return;
    }
    const parsed = parseTokenFile(await readFile(path, "utf8"));
    if (parsed.ok) tokens = parsed.tokens;
    else onProblem(`${path}: ${parsed.problem}`);
  };
  let looking: Promise<void> | null = null;
  return {
    async find(id) {
      looking ??= look()
        .catch((error: unknown) => onProblem(`${path}: ${String(error)}`))
        .finally(() => (looking = null));
      await looking;
      return tokens.get(id) ?? "none";
    },
  };
}
