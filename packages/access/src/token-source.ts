import type { TokenRecord } from "./token-record.ts";

/** Where tokens are kept. */
export interface TokenSource {
  /** `silence`: the place does not answer, and nothing is known from before. */
  find(id: string): Promise<TokenRecord | "none" | "silence">;
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
