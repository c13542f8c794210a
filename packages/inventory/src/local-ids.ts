/** Depositors' own names: which object each stands for, per owner, for ever. */
import { type Answer, type Database, inTransaction, reading, type Tx } from "./database.ts";
import type { LocalIdAnswer, LocalIdClaim, LocalIdList, NameConflict, RegisterResult } from "./inventory.ts";

/** Leaves the transaction, which undoes it: the name is another object's. */
export class NameTaken extends Error {
  readonly conflict: NameConflict;

  constructor(localId: string, message: string) {
    super(message);
    this.conflict = { kind: "conflict", localIds: [localId], message };
  }
}

/** A row for each name that has none, in the depositor's order. */
export async function putLocalIds(tx: Tx, { ownerArk, ark, localIds, created }: LocalIdClaim): Promise<void> {
  for (const localId of new Set(localIds)) {
    const holder = await tx
      .selectFrom("inv_localids")
      .select("inv_object_ark")
      .where("inv_owner_ark", "=", ownerArk)
      .where("local_id", "=", localId)
      .executeTakeFirst();
    if (holder === undefined) {
      const row = { inv_object_ark: ark, inv_owner_ark: ownerArk, local_id: localId, created };
      await tx.insertInto("inv_localids").values(row).execute();
    } else if (holder.inv_object_ark !== ark) {
      throw new NameTaken(localId, `the local id ${localId} is that of ${holder.inv_object_ark}, not of ${ark}`);
    }
  }
}

export async function registerLocalIds(database: Database, claim: LocalIdClaim): Promise<RegisterResult> {
  if (claim.localIds.length === 0) return { kind: "registered" };
  try {
    const answer = await inTransaction(database, (tx) => putLocalIds(tx, claim));
    return answer.ok ? { kind: "registered" } : answer.fault;
  } catch (error) {
    if (error instanceof NameTaken) return error.conflict;
    throw error;
  }
}

export async function findLocalIds(
  database: Database,
  ownerArk: string,
  localIds: readonly string[],
): Promise<LocalIdAnswer> {
  if (localIds.length === 0) return { kind: "none" };
  const answer = await reading(database, (db) =>
    db
      .selectFrom("inv_localids")
      .select(["inv_object_ark", "local_id"])
      .where("inv_owner_ark", "=", ownerArk)
      .where("local_id", "in", localIds)
      .orderBy("local_id")
      .execute(),
  );
  if (!answer.ok) return unanswered(answer);
  const [first, ...others] = answer.value;
  if (first === undefined) return { kind: "none" };
  const other = others.find(({ inv_object_ark }) => inv_object_ark !== first.inv_object_ark);
  if (other === undefined) return { kind: "found", ark: first.inv_object_ark };
  const stands = (row: typeof first): string => `${row.local_id} is the name of ${row.inv_object_ark}`;
  return {
    kind: "conflict",
    localIds: [first.local_id, other.local_id],
    message: `${stands(first)}, ${stands(other)}`,
  };
}

export async function localIdsOf(database: Database, ownerArk: string, ark: string): Promise<LocalIdList> {
  const answer = await reading(database, (db) =>
    db
      .selectFrom("inv_localids")
      .select("local_id")
      .where("inv_object_ark", "=", ark)
      .where("inv_owner_ark", "=", ownerArk)
      .orderBy("id")
      .execute(),
  );
  if (!answer.ok) return unanswered(answer);
  return { kind: "listed", localIds: answer.value.map(({ local_id }) => local_id) };
}

/** A question cannot be refused for good: it is asked again. */
const unanswered = ({ fault }: Extract<Answer<unknown>, { ok: false }>) =>
  ({ kind: "unavailable", message: fault.message }) as const;
