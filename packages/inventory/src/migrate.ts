import { type Kysely, type Migration, Migrator } from "kysely";

/** In order of their names; one that was released is never changed. */
export type Migrations = Readonly<Record<string, Migration>>;

/** Services that start together may step on each other's first statements: those that lose look again. */
const TRIES = 5;

export async function migrate<T>(db: Kysely<T>, migrations: Migrations): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } });
  let problem: unknown;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { error } = await migrator.migrateToLatest();
    if (error === undefined) return;
    problem = error;
  }
  throw problem;
}
