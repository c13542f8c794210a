import { z } from "zod";
import type { Scope } from "./caller.ts";
import { ROLES } from "./roles.ts";

/** A token as it is kept, in the tree or in a file: enough to check one, nothing to make one from. */
export const TokenRecordSchema = z.object({
  id: z.string().regex(/^[a-z0-9]{12}$/),
  /** Whose it is, for people. */
  name: z.string().min(1).max(200),
  role: z.enum(ROLES),
  /** Profiles' names; `*` alone is all of them. */
  collections: z.array(z.string().min(1).max(128)).min(1),
  /** SHA-256 of the secret, in hex. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  created: z.string(),
  created_by: z.string(),
  /** RFC 3339. Every token ends some day. */
  expires: z.iso.datetime({ offset: true }),
});
export type TokenRecord = z.infer<typeof TokenRecordSchema>;

export const EVERY_COLLECTION = "*";

export const scopeOf = ({ collections }: Pick<TokenRecord, "collections">): Scope =>
  collections.includes(EVERY_COLLECTION) ? "all" : collections;
