/** Which fleet the database belongs to: one row. The table is made by whoever looks first, so that older versions can still start. */
import { sql } from "kysely";
import { type Database, inTransaction, reading } from "./database.ts";
import type { FleetStamp, InventoryStamp, Unavailable } from "./inventory.ts";

const MAKE_TABLE = sql`create table if not exists sluice_fleet (
  one integer not null primary key, fleet varchar(255) not null, epoch bigint not null)`;

export function fleetStamp(database: Database, open: () => void): InventoryStamp {
  return {
    name: "the inventory",
    async read() {
      const answer = await reading(database, async (db) => {
        await MAKE_TABLE.execute(db);
        return await db.selectFrom("sluice_fleet").select(["fleet", "epoch"]).executeTakeFirst();
      });
      if (answer.ok) return { kind: "read", stamp: stampOf(answer.value) };
      if (answer.fault.kind === "unavailable") return { kind: "away", why: answer.fault.message };
      throw new Error(answer.fault.message);
    },
    async write({ fleet, epoch }) {
      const answer = await inTransaction(database, async (tx) => {
        const there = await tx.selectFrom("sluice_fleet").select(["fleet", "epoch"]).executeTakeFirst();
        // Somebody else named it first, perhaps otherwise: whoever reads again sees it.
        if (there !== undefined && (there.fleet !== fleet || Number(there.epoch) >= epoch)) return;
        if (there === undefined) await tx.insertInto("sluice_fleet").values({ one: 1, fleet, epoch }).execute();
        else await tx.updateTable("sluice_fleet").set({ epoch }).where("one", "=", 1).execute();
      });
      if (!answer.ok) throw new Error(answer.fault.message);
    },
    open,
  };
}

/** A driver may give a large number as text. */
const stampOf = (row: { fleet: string; epoch: number | string } | undefined): FleetStamp | null =>
  row === undefined ? null : { fleet: row.fleet, epoch: Number(row.epoch) };

const NOT_CHECKED = new Error("nobody has checked yet whether this database belongs to the fleet");

/** The database, closed until it was found to be this fleet's: whoever asks before is told to come back. */
export function closedUntilChecked(database: Database): { readonly database: Database; readonly open: () => void } {
  let isOpen = false;
  const fault: Unavailable = { kind: "unavailable", message: NOT_CHECKED.message };
  return {
    open: () => (isOpen = true),
    database: {
      ...database,
      ready: () => (isOpen ? database.ready() : Promise.reject(NOT_CHECKED)),
      sortError: (error) => (error === NOT_CHECKED ? { fault, again: false } : database.sortError(error)),
    },
  };
}
