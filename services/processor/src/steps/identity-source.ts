import type { Identifiers } from "@sluice/queue-core";

export type IdentitySource = "supplied" | "found" | "minted";

/** Where an ARK came from that an earlier run wrote down; null if it is the depositor's, or there is none. */
export function sourceOfBefore(identifiers: Identifiers | null): Exclude<IdentitySource, "supplied"> | null {
  const source = identifiers?.["primary_source"];
  return source === "found" || source === "minted" ? source : null;
}

/** An earlier run of an update has looked up which names the ARK had. */
export const namesComplete = (identifiers: Identifiers | null, ark: string): boolean =>
  identifiers?.["names_of"] === ark;
