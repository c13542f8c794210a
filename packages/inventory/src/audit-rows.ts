/**
 * The archived audit in its two tables. A record is known by its hash, so that what is kept again is the same row. After a
 * restore of the tree its records have numbers that the archive has already given to others: those are marked as left.
 */
import type {
  ArchivedAnchor,
  ArchivedAudit,
  AuditArchive,
  AuditKept,
  AuditPageWish,
  LeftAudit,
} from "./audit-archive.ts";
import { type Answer, type Database, inTransaction, reading, type Tx } from "./database.ts";
import type { Found } from "./inventory.ts";

export function auditArchive(database: Database): AuditArchive {
  const made = withTables(database);
  return {
    auditEnd: () => auditEnd(made),
    keepAudit: (records, at) => keepAudit(made, records, at),
    knownAudit: (hashes) => knownAudit(made, hashes),
    keepAuditAnchor: (anchor) => keepAuditAnchor(made, anchor),
    listAudit: (wish) => listAudit(made, wish),
    listAuditAnchors: (after, limit) => listAuditAnchors(made, after, limit),
    leftAudit: () => leftAudit(made),
  };
}

/** Before the first statement; of one that failed the next one makes up for it. */
function withTables(database: Database): Database {
  let isMade = false;
  const ready = async (): Promise<void> => {
    await database.ready();
    if (!isMade) await database.makeAuditTables(database.db);
    isMade = true;
  };
  return { ...database, ready };
}

const COLUMNS = ["number", "hash", "record"] as const;

async function auditEnd(database: Database): Promise<Found<ArchivedAudit>> {
  const page = await listAudit(database, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
  const last = page.kind === "found" ? page.value[0] : undefined;
  if (page.kind !== "found") return page;
  return last === undefined ? { kind: "none" } : { kind: "found", value: last };
}

async function keepAudit(database: Database, records: readonly ArchivedAudit[], at: string): Promise<AuditKept> {
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined) return { kind: "kept", added: 0, left: 0 };
  const answer = await inTransaction(database, async (tx) => {
    const rows = await tx
      .selectFrom("archived_audit")
      .select(["number", "hash", "left_at"])
      .where("number", ">=", first.number)
      .where("number", "<=", last.number)
      .execute();
    const hashes = records.map(({ hash }) => hash);
    const left = await leave(tx, rows, hashes, at);
    const known = new Set(rows.map(({ hash }) => hash));
    if (rows.some(({ hash, left_at }) => left_at !== null && hashes.includes(hash)))
      await tx.updateTable("archived_audit").set({ left_at: null }).where("hash", "in", hashes).execute();
    const added = records.filter(({ hash }) => !known.has(hash));
    if (added.length > 0)
      await tx
        .insertInto("archived_audit")
        .values(added.map(({ number, hash, record }) => ({ number, hash, record, left_at: null })))
        .execute();
    return { added: added.length, left };
  });
  return answer.ok ? { kind: "kept", ...answer.value } : answer.fault;
}

/** From the first number on that the chain gives to another record, all that the archive has is of another past. */
async function leave(
  tx: Tx,
  rows: readonly { readonly number: number; readonly hash: string; readonly left_at: string | null }[],
  hashes: readonly string[],
  at: string,
): Promise<number> {
  const foreign = rows.filter(({ hash, left_at }) => left_at === null && !hashes.includes(hash));
  if (foreign.length === 0) return 0;
  const from = foreign.reduce((least, { number }) => Math.min(least, number), Infinity);
  const done = await tx
    .updateTable("archived_audit")
    .set({ left_at: at })
    .where("number", ">=", from)
    .where("left_at", "is", null)
    .where("hash", "not in", hashes)
    .executeTakeFirst();
  return Number(done.numUpdatedRows);
}

async function knownAudit(database: Database, hashes: readonly string[]): Promise<Found<ReadonlySet<string>>> {
  if (hashes.length === 0) return { kind: "found", value: new Set() };
  const answer = await reading(database, (db) =>
    db.selectFrom("archived_audit").select("hash").where("hash", "in", hashes).where("left_at", "is", null).execute(),
  );
  return found(answer.ok ? { ok: true, value: new Set(answer.value.map(({ hash }) => hash)) } : answer);
}

async function keepAuditAnchor(database: Database, row: ArchivedAnchor): Promise<AuditKept> {
  const answer = await inTransaction(database, async (tx) => {
    const { number, hash, anchor } = row;
    const there = await tx
      .selectFrom("archived_audit_anchors")
      .select("number")
      .where("number", "=", number)
      .where("hash", "=", hash)
      .executeTakeFirst();
    if (there === undefined) await tx.insertInto("archived_audit_anchors").values({ number, hash, anchor }).execute();
    return there === undefined ? 1 : 0;
  });
  return answer.ok ? { kind: "kept", added: answer.value, left: 0 } : answer.fault;
}

async function listAudit(
  database: Database,
  { after, before, limit }: AuditPageWish,
): Promise<Found<readonly ArchivedAudit[]>> {
  const answer = await reading(database, (db) => {
    const chain = db.selectFrom("archived_audit").select(COLUMNS).where("left_at", "is", null).limit(limit);
    return before === undefined
      ? chain
          .where("number", ">", after ?? 0)
          .orderBy("number")
          .execute()
      : chain.where("number", "<", before).orderBy("number", "desc").execute();
  });
  return found(answer);
}

async function listAuditAnchors(
  database: Database,
  after: number,
  limit: number,
): Promise<Found<readonly ArchivedAnchor[]>> {
  const answer = await reading(database, (db) =>
    db
      .selectFrom("archived_audit_anchors")
      .select(["number", "hash", "anchor"])
      .where("number", ">", after)
      .orderBy("number")
      .limit(limit)
      .execute(),
  );
  return found(answer);
}

async function leftAudit(database: Database): Promise<Found<LeftAudit>> {
  const answer = await reading(database, (db) =>
    db
      .selectFrom("archived_audit")
      .select(({ fn }) => [
        fn.countAll<number | string>().as("records"),
        fn.min<number | null>("number").as("first"),
        fn.max<number | null>("number").as("last"),
      ])
      .where("left_at", "is not", null)
      .executeTakeFirst(),
  );
  if (!answer.ok) return found(answer);
  const { records = 0, first = null, last = null } = answer.value ?? {};
  return first === null || last === null
    ? { kind: "none" }
    : { kind: "found", value: { records: Number(records), first, last } };
}

const found = <T>(answer: Answer<T>): Found<T> =>
  answer.ok ? { kind: "found", value: answer.value } : { kind: "unavailable", message: answer.fault.message };
