import { parseAnvl, UNASSIGNED } from "./anvl.ts";
import { mergeLocalIds, parseLocalIds, printLocalIds } from "./local-ids.ts";
import { type Parsed, parsed, refused } from "./problem.ts";

export const OBJECT_TYPES = ["MRT-curatorial", "MRT-system"] as const;
export const OBJECT_ROLES = ["MRT-content", "MRT-class"] as const;
export const AGGREGATE_TYPES = ["MRT-collection", "MRT-owner", "MRT-service-level-agreement"] as const;

export type ObjectType = (typeof OBJECT_TYPES)[number];
export type ObjectRole = (typeof OBJECT_ROLES)[number];
export type AggregateType = (typeof AGGREGATE_TYPES)[number];

/** Merritt's object model file, mrt-mom.txt. */
export interface Mom {
  readonly type: ObjectType;
  readonly role: ObjectRole;
  readonly aggregate?: AggregateType;
  readonly localIds: readonly string[];
  readonly primaryId: string;
}

/** The double tabs after the short labels are Merritt's: its readers split at the colon, people like the alignment. */
export function printMom(mom: Mom): string {
  const localIds = printLocalIds(mom.localIds);
  return [
    `type:\t\t${mom.type}`,
    `role:\t\t${mom.role}`,
    ...(mom.aggregate === undefined ? [] : [`aggregate:\t${mom.aggregate}`]),
    `localIdentifier:\t${localIds === "" ? UNASSIGNED : localIds}`,
    `primaryIdentifier:\t${mom.primaryId}`,
    "",
  ].join("\n");
}

export function parseMom(text: string): Parsed<Mom> {
  const anvl = parseAnvl(text);
  if (!anvl.ok) return anvl;
  const fields = new Map(anvl.value.map(({ label, value }) => [label, value]));
  const type = OBJECT_TYPES.find((name) => name === fields.get("type"));
  const role = OBJECT_ROLES.find((name) => name === fields.get("role"));
  const aggregate = AGGREGATE_TYPES.find((name) => name === fields.get("aggregate"));
  const primaryId = fields.get("primaryIdentifier");
  if (type === undefined) return wrong("type", OBJECT_TYPES.join(" or "));
  if (role === undefined) return wrong("role", OBJECT_ROLES.join(" or "));
  if (primaryId === undefined) return wrong("primaryIdentifier", "an ARK");
  const localIds = mergeLocalIds(parseLocalIds(fields.get("localIdentifier") ?? "").filter((id) => id !== UNASSIGNED));
  return parsed({ type, role, ...(aggregate === undefined ? {} : { aggregate }), localIds, primaryId });
}

const wrong = (column: string, expected: string) =>
  refused({ code: "MOM_MALFORMED", message: `${column} is missing or wrong`, column, expected });

/** mrt-owner.txt: the owner's ARK, without a line end. */
export const printOwner = (owner: string): string => owner;

/** mrt-membership.txt: the ARK of each collection on a line of its own. */
export const printMembership = (collections: readonly string[]): string =>
  collections.map((ark) => `${ark}\n`).join("");

export const parseOwner = (text: string): string => text.trim();

export const parseMembership = (text: string): string[] => text.split(/\s+/).filter((ark) => ark !== "");
