import { inspect } from "node:util";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { freePort, type RunningMariaDb, skipUnless, startMariaDb } from "@sluice/local-parts";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { type Inventory, type MySqlUrl, openInventory, parseInventoryUrl, type RecordResult } from "../src/index.ts";
import { openMySqlInventory } from "../src/mysql.ts";
import { type Bench, counts, inventoryConformance } from "./conformance.ts";
import { anEndedBatch, anEndedJob, aVersion, OWNER } from "./version.ts";

const started = await startMariaDb();
const server = started as RunningMariaDb;
afterAll(async () => {
  if (!("skip" in started)) await started.stop();
});

function urlOf(text: string): MySqlUrl {
  const url = parseInventoryUrl(text);
  if (url?.kind !== "mysql") throw new Error("no MySQL URL");
  return url;
}

async function query(sql: string): Promise<readonly Record<string, unknown>[]> {
  const connection = await createConnection(server.url);
  try {
    return (await connection.query<RowDataPacket[]>(sql))[0].map((row) => ({ ...row }));
  } finally {
    await connection.end();
  }
}

async function change(sql: string): Promise<void> {
  const connection = await createConnection(server.url);
  await connection.query(sql);
  await connection.end();
}

async function empty(): Promise<void> {
  const tables = await query(
    "select table_name as name from information_schema.tables where table_schema = database()",
  );
  const connection = await createConnection(server.url);
  await connection.query("set foreign_key_checks = 0");
  for (const { name } of tables) await connection.query(`drop table ${String(name)}`);
  await connection.end();
}

/** As the queue does it: a job whose recording was not possible comes again. */
async function recordInTheEnd(
  inventory: Inventory,
  ...[version]: Parameters<Inventory["record"]>
): Promise<RecordResult> {
  for (;;) {
    const result = await inventory.record(version);
    if (result.kind !== "unavailable") return result;
  }
}

skipUnless(describe, started)("an inventory in MariaDB", () => {
  let inventory: Inventory;
  beforeEach(async () => {
    await empty();
    inventory = await openInventory(urlOf(server.url));
  });
  afterEach(() => inventory.close());

  const rows: Bench["rows"] = query;
  const another: Bench["another"] = () => openInventory(urlOf(server.url));
  inventoryConformance({ inventory: () => inventory, another, rows, change });

  test("is made by many at once", async () => {
    await empty();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openInventory(urlOf(server.url))));
    expect(await opened[3]!.record(aVersion())).toEqual({ kind: "recorded" });
    for (const each of opened) await each.close();
  });

  test("goes on after kill -9 of the server: each version is there once", async () => {
    const versions = Array.from({ length: 120 }, (_, i) =>
      aVersion({ ark: `ark:/99999/fk4k${i}`, localIds: [`etd-${i}`] }),
    );
    let done = 0;
    let killed = Promise.resolve();
    const killOnce = async (): Promise<void> => {
      await server.kill("SIGKILL");
      await server.restart();
    };
    const record = async (version: (typeof versions)[number]): Promise<string> => {
      const { kind } = await recordInTheEnd(inventory, version);
      done += 1;
      if (done === 40) killed = killOnce();
      return kind;
    };
    const kinds = await Promise.all(versions.map(record));
    await killed;
    // "already": the commit was done, its answer lost.
    expect(kinds.filter((kind) => kind !== "recorded" && kind !== "already")).toEqual([]);
    expect(await counts(rows)).toMatchObject({ objects: 120, versions: 120, files: 240, ingests: 120, localids: 120 });
    expect(await rows("select job_id from inv_ingests group by job_id having count(*) > 1")).toEqual([]);
  });

  test("goes on with an archive in the middle of which the server was killed", async () => {
    async function* pages() {
      yield [anEndedJob(1)];
      await server.kill("SIGKILL");
      await server.restart();
      yield [anEndedJob(2)];
    }
    expect(await inventory.archiveBatch(anEndedBatch({ jobs: pages() }))).toEqual({ kind: "archived", jobs: 2 });
    expect(await rows("select job_id from archived_jobs order by job_id")).toHaveLength(2);
  });

  test("gives a transaction that lost a deadlock another try", async () => {
    await inventory.record(aVersion());
    const counted = async (name: string): Promise<number> =>
      Number((await rows(`show global status like '${name}'`))[0]?.["Value"]);
    const deadlocks = (): Promise<number> => counted("innodb_deadlocks");
    // Not by information_schema.innodb_trx: it is a cache that is not renewed while somebody reads it every 100 ms.
    const isWaiting = async (): Promise<boolean> => (await counted("innodb_row_lock_current_waits")) > 0;
    const before = await deadlocks();
    const other = await createConnection(server.url);
    await other.beginTransaction();
    // Heavier than ours, so that ours is the one the server gives up.
    for (let i = 0; i < 200; i += 1) await other.query("insert into inv_owners (ark) values (?)", [`ark:/x/${i}`]);
    await other.query("update inv_collections set name = 'Maps'");
    const ours = inventory.record(aVersion({ ark: "ark:/99999/fk4two" })); // reads the owner, waits for the collection
    while (!(await isWaiting()));
    await other.query("update inv_owners set name = 'Library'");
    await other.commit();
    expect(await ours).toEqual({ kind: "recorded" });
    expect(await deadlocks()).toBe(before + 1);
    await other.end();
  });

  test("refuses what does not fit, instead of cutting it", async () => {
    expect(await inventory.record(aVersion({ localIds: ["x".repeat(300)] }))).toMatchObject({ kind: "refused" });
    expect(await counts(rows)).toMatchObject({ objects: 0, localids: 0 });
  });

  test("does not wait for ever for a server that says nothing", async () => {
    const hasty = await openMySqlInventory(urlOf(server.url), { silenceMs: 300 });
    await hasty.record(aVersion({ localIds: ["etd-1"] }));
    const ask = async (): Promise<string> => (await hasty.findLocalIds(OWNER, ["etd-1"])).kind;
    try {
      await server.kill("SIGSTOP");
      // All its threads stop, one after the other: the first questions may still be answered.
      while ((await ask()) !== "unavailable");
    } finally {
      await server.kill("SIGCONT");
    }
    expect(await hasty.findLocalIds(OWNER, ["etd-1"])).toMatchObject({ kind: "found" });
    await hasty.close();
  });

  test("that is away at the start is made when it is back", async () => {
    await empty();
    await server.kill("SIGKILL");
    const early = await openInventory(urlOf(server.url));
    expect(await early.findLocalIds(OWNER, ["etd-1"])).toMatchObject({ kind: "unavailable" });
    await server.restart();
    expect(await early.record(aVersion())).toEqual({ kind: "recorded" });
    await early.close();
  });

  test("says a wrong password at once, and never the password", async () => {
    const wrong = new URL(server.url);
    wrong.password = "s3cret";
    const error: unknown = await openInventory(urlOf(wrong.href)).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/ER_ACCESS_DENIED_ERROR/);
    expect(`${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)}`).not.toContain("s3cret");
    const nowhere = urlOf(`mysql://sluice:s3cret@127.0.0.1:${await freePort()}/inventory`);
    const away = await openInventory(nowhere);
    const answer = await away.record(aVersion());
    expect(answer).toMatchObject({ kind: "unavailable" });
    expect(inspect([nowhere, answer])).not.toContain("s3cret");
    await away.close();
  });
});
