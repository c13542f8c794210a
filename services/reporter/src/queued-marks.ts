import type { BatchId } from "@sluice/queue-core";
import { ContainedFolder } from "@sluice/safe-io";
import { join } from "node:path";
import type { QueuedMarks } from "./sweeps/queued-mails.ts";

const NAME = "queued-mail";

/** A file in the batch's folder: there as long as the batch is, and gone with it. */
export function queuedMarks(workingDir: string): QueuedMarks {
  const folderOf = async (id: BatchId): Promise<ContainedFolder> => {
    const folder = await ContainedFolder.open(join(workingDir, id));
    if (!folder.ok) throw new Error(folder.error.message);
    return folder.value;
  };
  return {
    has: async (id) => (await (await folderOf(id)).stat(NAME)).ok,
    put: async (id) => {
      const written = await (await folderOf(id)).write(NAME, "");
      if (!written.ok) throw new Error(written.error.message);
    },
  };
}
