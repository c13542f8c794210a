/** A run that ended a month ago, as a job-api of that time has archived it. */
import { blockOf, records, shardOfTenant } from "@sluice/job-queue";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

const MONTH_MS = 30 * 24 * 3_600_000;

export async function archiveOldRun(archive: string, tenant: string, id: number): Promise<void> {
  const folder = join(archive, String(shardOfTenant(tenant, {})).padStart(2, "0"));
  const ended = Date.now() - MONTH_MS;
  const done = records.done.encode({ name: "old", tenant, created: ended, ended }).toString("utf8");
  const file = join(folder, `${blockOf(id)}.job-api-of-old.0.jsonl`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, `{"id":${id},"token":"1.1","done":${done}}\n`);
  // How long ago a file was last written to is what counts.
  await utimes(file, ended / 1_000, ended / 1_000);
}
