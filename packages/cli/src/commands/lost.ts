/** What a restored tree does not know: told, made again, forgotten. Straight to ZooKeeper, as a restore is. */
import { type Command, toNobody } from "../command.ts";
import { stop } from "../context.ts";
import { lookDirectly, type LostWork } from "../direct/lost.ts";
import { LOST_PARTS, withLostParts } from "../direct/lost-parts.ts";
import { withQueue, ZOOKEEPER } from "../direct/open-queue.ts";
import { EXIT } from "../exit-codes.ts";
import { DRY_RUN, REASON, YES } from "../interact/confirm.ts";

export const LOST_COMMAND: Command = {
  words: ["lost"],
  says: "After a restore: batches that were accepted and are not in the tree, how far they came, what to do; 2 if there are any",
  options: [
    ZOOKEEPER,
    ...LOST_PARTS,
    {
      name: "since",
      value: "TIME",
      says: "when the snapshot was taken: also what was recorded since and is nowhere else",
    },
    { name: "create", says: "make again what can be, under the same UUIDs and numbers: what was done before is found" },
    { name: "forget", says: "remove what is left of batches that have ended or came again, files too" },
    { name: "only", value: "BATCH", says: "this one alone (bid… or bid-UUID); with --create also one that has ended" },
    REASON,
    DRY_RUN,
    YES,
  ],
  examples: [
    "lost --zookeeper zk1:2181,zk2:2181 --working-dir /data/queue --inventory sqlite:/data/inventory.db",
    'lost --zookeeper zk1:2181 --working-dir /data/queue --create --reason "the ensemble was lost"',
  ],
  talksTo: toNobody,
  async run(context) {
    const { given } = context;
    const hosts = given.text("zookeeper");
    if (hosts === undefined)
      return stop(context, EXIT.usage, "losses are looked for straight in ZooKeeper", "add --zookeeper HOSTS");
    const since = given.text("since");
    if (since !== undefined && Number.isNaN(Date.parse(since)))
      return stop(context, EXIT.usage, `--since ${since} is no time`, "write it as 2026-01-31T04:05:06Z");
    const work: LostWork = {
      creates: given.has("create"),
      forgets: given.has("forget"),
      only: given.text("only") ?? null,
      since: since === undefined ? null : new Date(since).toISOString(),
    };
    return await withLostParts(context, (parts) =>
      withQueue(context, hosts, (queue) => lookDirectly(context, queue, parts, work)),
    );
  },
};
