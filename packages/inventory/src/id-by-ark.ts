import type { Tx } from "./database.ts";

/** Made when first met. */
export async function idByArk(tx: Tx, table: "inv_owners" | "inv_collections", ark: string): Promise<number> {
  const find = () => tx.selectFrom(table).select("id").where("ark", "=", ark);
  const there = await find().executeTakeFirst();
  if (there !== undefined) return there.id;
  await tx.insertInto(table).values({ ark }).execute();
  return (await find().executeTakeFirstOrThrow()).id;
}
