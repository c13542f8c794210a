/** The tree of a new fleet: nothing else makes one, so that a ZooKeeper that came back empty stays empty. */
import { act, initTree, openTree, paths } from "@sluice/queue-core";
import { type Command, toNobody } from "../command.ts";
import { type Context, stop } from "../context.ts";
import { directOperator, type OpenQueue, withQueue, ZOOKEEPER } from "../direct/open-queue.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export const INIT_COMMAND: Command = {
  words: ["init"],
  says: "Make the tree of a new fleet, straight in ZooKeeper, once for an installation; where there is one it is left as it is",
  options: [ZOOKEEPER],
  examples: ["init --zookeeper zk1:2181,zk2:2181,zk3:2181/sluice"],
  talksTo: toNobody,
  async run(context) {
    const hosts = context.given.text("zookeeper");
    if (hosts === undefined)
      return stop(context, EXIT.usage, "a tree is made straight in ZooKeeper", "add --zookeeper HOSTS");
    return await withQueue(context, hosts, (queue) => init(context, queue, hosts), { makesRoot: true });
  },
};

async function init(context: Context, queue: OpenQueue, hosts: string): Promise<ExitCode> {
  const there = await openTree(queue);
  const made = there.ok ? there : await initTree(queue);
  if (!made.ok) {
    const code = made.why === "silence" ? EXIT.error : EXIT.refused;
    return stop(context, code, made.problem);
  }
  const { fleet, epoch, history } = made.identity;
  const isNew = !there.ok;
  if (isNew) await tellAudit(context, queue);
  context.printer.done(
    { fleet, epoch, fleet_id: history, made: isNew },
    fleet,
    isNew ? `made: fleet ${fleet} at ${hosts}` : `found: fleet ${fleet}, epoch ${epoch}, at ${hosts}; nothing was made`,
  );
  return EXIT.ok;
}

/** A tree without this record is whole: whoever reads the audit misses a line. */
async function tellAudit(context: Context, queue: OpenQueue): Promise<void> {
  const operator = directOperator(context, "a new installation");
  const written = await act(queue, operator, "tree.init", paths.fleetId, () =>
    Promise.resolve({ kind: "go", ops: [] }),
  );
  if (written.kind !== "applied") context.printer.note(`not in the audit: ${written.kind}`);
}
