/** A version's files, and the work list of whoever audits their content. */
import type { Tx } from "./database.ts";
import { NotRecorded } from "./not-recorded.ts";
import { auditRow, fileRow, type Parents } from "./rows.ts";
import type { StoredVersion } from "./stored-version.ts";

/** Per statement: SQLite allows 32,766 values in one. */
const ROWS = 500;

export async function putFiles(tx: Tx, { files, created }: StoredVersion, parents: Parents): Promise<void> {
  for (const some of pagesOf(files)) {
    const rows = some.map((file) => fileRow(file, created, parents));
    await tx.insertInto("inv_files").values(rows).execute();
  }
}

/** Content that an earlier version brought is on the list since then: once is enough, however many versions keep it. */
export async function putAudits(
  tx: Tx,
  version: StoredVersion,
  parents: Parents & { readonly inv_node_id: number },
): Promise<void> {
  const idOf = await fileIds(tx, version, parents);
  for (const some of pagesOf(version.files.filter(({ isNew }) => isNew))) {
    const rows = some.map((file) => auditRow(file, version.created, { ...parents, inv_file_id: idOf(file.path) }));
    await tx.insertInto("inv_audits").values(rows).execute();
  }
}

async function fileIds(tx: Tx, { ark }: StoredVersion, parents: Parents): Promise<(path: string) => number> {
  const rows = await tx
    .selectFrom("inv_files")
    .select(["id", "pathname"])
    .where("inv_version_id", "=", parents.inv_version_id)
    .execute();
  const ids = new Map(rows.map(({ id, pathname }) => [pathname, id]));
  return (path) => {
    const id = ids.get(path);
    if (id === undefined) throw new NotRecorded({ kind: "refused", message: `${ark}: the database altered ${path}` });
    return id;
  };
}

function* pagesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let first = 0; first < items.length; first += ROWS) yield items.slice(first, first + ROWS);
}
