import { type Kysely, Migrator } from "kysely";
import { inventoryMigration } from "./migrations/2026-01-inventory.ts";

/** In order of their names; one that was released is never changed. */
const MIGRATIONS = { "2026-01-inventory": inventoryMigration };

/** Recorders that start together may step on each other's first statements: those that lose look again. */
const TRIES = 5;

export async function migrate<T>(db: Kysely<T>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(MIGRATIONS) } });
  let problem: unknown;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { error } = await migrator.migrateToLatest();
    if (error === undefined) return;
    problem = error;
  }
  throw problem;
}
