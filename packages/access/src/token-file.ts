/**
 * Tokens in a file, hashed: the first admin's, the services', and those that must work while ZooKeeper is away. It may also name
 * tokens that are revoked, wherever they are kept: so one of the tree is revoked while ZooKeeper is away. Re-read when it changes.
 */
import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import { type TokenRecord, TokenRecordSchema } from "./token-record.ts";
import type { TokenSource } from "./token-source.ts";

const FileSchema = z.object({
  tokens: z.array(TokenRecordSchema),
  /** Ids. */
  revoked: z.array(TokenRecordSchema.shape.id).default([]),
});

export interface TokenFileOptions {
  /** Told once per version of the file; the version before it stays in use. */
  readonly onProblem: (problem: string) => void;
}

export type ParsedTokenFile =
  | { readonly ok: true; readonly tokens: ReadonlyMap<string, TokenRecord>; readonly revoked: ReadonlySet<string> }
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
  const { tokens, revoked } = parsed.data;
  return { ok: true, tokens: new Map(tokens.map((token) => [token.id, token])), revoked: new Set(revoked) };
}

export const printTokenFile = (tokens: readonly TokenRecord[]): string => `${JSON.stringify({ tokens }, null, 2)}\n`;

export interface TokenFile extends TokenSource {
  /** Without the revoked ones. */
  all(): Promise<readonly TokenRecord[]>;
}

export function openTokenFile(path: string, { onProblem }: TokenFileOptions): TokenFile {
  let tokens: ReadonlyMap<string, TokenRecord> = new Map();
  let revoked: ReadonlySet<string> = new Set();
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
    if (parsed.ok) ({ tokens, revoked } = parsed);
    else onProblem(`${path}: ${parsed.problem}`);
  };
  let looking: Promise<void> | null = null;
  const lookOnce = (): Promise<void> =>
    (looking ??= look()
      .catch((error: unknown) => onProblem(`${path}: ${String(error)}`))
      .finally(() => (looking = null)));
  return {
    async find(id) {
      await lookOnce();
      return revoked.has(id) ? "revoked" : (tokens.get(id) ?? "none");
    },
    async all() {
      await lookOnce();
      return [...tokens.values()].filter(({ id }) => !revoked.has(id));
    },
  };
}
