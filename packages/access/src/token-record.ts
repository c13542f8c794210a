import { TokenSchema } from "@sluice/queue-core";
import { z } from "zod";
import type { Scope } from "./caller.ts";
import { ROLES } from "./roles.ts";

/** A token as it is kept, in the tree or in a file: enough to check one, nothing to make one from. */
export const TokenRecordSchema = TokenSchema.extend({ role: z.enum(ROLES) });
export type TokenRecord = z.infer<typeof TokenRecordSchema>;

export const EVERY_COLLECTION = "*";

export const scopeOf = ({ collections }: Pick<TokenRecord, "collections">): Scope =>
  collections.includes(EVERY_COLLECTION) ? "all" : collections;
