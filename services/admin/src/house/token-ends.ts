/** Tokens that end soon or ended lately, of the tree and of the token file: whoever works with one must have another before. */
import { endingTokens, type EndingToken, type TokenFile, type TokenRecord, TokenRecordSchema } from "@sluice/access";
import { readTokens } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";

export type TokenPlace = "tree" | "file";
export type TokenEnd = EndingToken & { readonly place: TokenPlace; readonly expired: boolean };

export interface TokenEndsParts {
  /** Of the moment; null while there is none. */
  readonly session: () => Session | null;
  /** null: there is none. */
  readonly file: TokenFile | null;
  readonly nowMs: () => number;
}

/** The soonest first; null = no answer. */
export type TokenEnds = () => Promise<readonly TokenEnd[] | null>;

export function makeTokenEnds({ session, file, nowMs }: TokenEndsParts): TokenEnds {
  return async () => {
    const tree = await treeTokens(session());
    if (tree === null) return null;
    const inFile = (await file?.all()) ?? [];
    const places = new Map<string, TokenPlace>(tree.map(({ id }) => [id, "tree"]));
    for (const { id } of inFile) places.set(id, "file");
    const inUse = [...inFile, ...(await withoutThoseOf(tree, file))];
    const now = nowMs();
    return endingTokens(inUse, now).map((token) => ({
      ...token,
      place: places.get(token.id) ?? "tree",
      expired: Date.parse(token.expires) <= now,
    }));
  };
}

async function treeTokens(session: Session | null): Promise<readonly TokenRecord[] | null> {
  if (session?.state !== "connected") return null;
  const read = await readTokens(session);
  if (read === "silence" || read === null) return null;
  return read.tokens.flatMap((kept) => {
    const token = TokenRecordSchema.safeParse(kept);
    return token.success ? [token.data] : [];
  });
}

/** The file goes before the tree, and it may revoke what the tree holds. */
async function withoutThoseOf(tree: readonly TokenRecord[], file: TokenFile | null): Promise<readonly TokenRecord[]> {
  if (file === null) return tree;
  const found = await Promise.all(tree.map(({ id }) => file.find(id)));
  return tree.filter((_, i) => found[i] === "none");
}
