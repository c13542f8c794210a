import type { TokenRecord } from "./token-record.ts";

/** `silence`: the place does not answer, and what is known from before is too old. `revoked`: wherever else it may be kept. */
export type FoundToken = TokenRecord | "none" | "revoked" | "silence";

/** Where tokens are kept. */
export interface TokenSource {
  find(id: string): Promise<FoundToken>;
}

/** The first that knows the id answers; silence counts only when nobody knows it. */
export function firstOf(sources: readonly TokenSource[]): TokenSource {
  return {
    async find(id) {
      let silent = false;
      for (const source of sources) {
        const found = await source.find(id);
        if (found === "silence") silent = true;
        else if (found !== "none") return found;
      }
      return silent ? "silence" : "none";
    },
  };
}
