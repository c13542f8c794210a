/** A queue of CDL's own libraries, brought over. */
import type { Command } from "../command.ts";
import { toNobody } from "../command.ts";
import { importDirectly } from "../direct/import.ts";
import { ZOOKEEPER } from "../direct/open-queue.ts";
import { DRY_RUN, REASON, YES } from "../interact/confirm.ts";

export const IMPORT_COMMAND: Command = {
  words: ["import"],
  says: "A Merritt queue written by CDL's libraries, straight to ZooKeeper, while its services and ours are stopped; 2 if something cannot be brought",
  options: [
    ZOOKEEPER,
    { name: "from", value: "HOSTS", says: "where the old queue is, if not in that very tree" },
    { name: "old-files", value: "DIR", says: "the old ingest service's queue folder, for payloads that were uploaded" },
    { name: "working-dir", value: "DIR", says: "our working folder; goes with --old-files" },
    {
      name: "assume-expanded",
      says: "batches in Processing have all their jobs: I compared them with their manifests",
    },
    { name: "leave-out", says: "bring the rest although some batches cannot be brought" },
    REASON,
    DRY_RUN,
    YES,
  ],
  examples: ["import --zookeeper 127.0.0.1:2181/merritt --dry-run"],
  talksTo: toNobody,
  run: importDirectly,
};
