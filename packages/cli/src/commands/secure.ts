/** The tree's nodes to their owners: who may do what, on every node. */
import { secureTree, walkAccessLists } from "@sluice/fsck";
import { act } from "@sluice/queue-core";
import { isOpen } from "@sluice/zookeeper";
import { type Command, toNobody } from "../command.ts";
import { type Context, stop } from "../context.ts";
import { directOperator, type OpenQueue, withQueue, ZOOKEEPER } from "../direct/open-queue.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { confirmed, DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";
import { makeProgress } from "../interact/progress.ts";
import { plural } from "../output/text.ts";

export const SECURE_COMMAND: Command = {
  words: ["secure"],
  says: "Give every node of the tree the access list of the fleet: after securing ZooKeeper, and to replace an identity",
  options: [ZOOKEEPER, REASON, DRY_RUN, YES],
  examples: ['secure --zookeeper zk1:2281,zk2:2281/sluice --reason "TLS everywhere" --yes'],
  talksTo: toNobody,
  async run(context) {
    const hosts = context.given.text("zookeeper");
    if (hosts === undefined)
      return stop(context, EXIT.usage, "access lists are set straight in ZooKeeper", "add --zookeeper HOSTS");
    return await withQueue(context, hosts, (queue) =>
      context.given.has("dry-run") ? count(context, queue) : secure(context, queue),
    );
  },
};

async function count(context: Context, { session }: OpenQueue): Promise<ExitCode> {
  let [looked, open] = [0, 0];
  for await (const page of walkAccessLists(session)) {
    if (typeof page === "string") return stop(context, EXIT.error, page);
    looked += page.length;
    open += page.filter(({ acl }) => isOpen(acl.entries)).length;
  }
  context.printer.done({ looked, open }, String(open), `${plural(looked, "node")}, ${open} open to everyone`);
  return open === 0 ? EXIT.ok : EXIT.attention;
}

async function secure(context: Context, queue: OpenQueue): Promise<ExitCode> {
  const { io, printer } = context;
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const sure = await confirmed(context, "Close every node to all but the identities of this session and the readers?");
  if (!sure.ok) return sure.code;
  const progress = makeProgress(io);
  const result = await secureTree(queue.session, {
    signal: io.interrupted,
    onProgress: ({ looked }) => progress.update([{ label: "looked at", done: looked, total: null, unit: "count" }]),
  });
  progress.end();
  if (result.kind === "refused") return stop(context, EXIT.refused, result.why);
  const { looked, changed } = result;
  const said = `${plural(looked, "node")}, ${changed} of them changed`;
  if (result.kind === "broken-off")
    return stop(context, EXIT.error, `broken off after ${said}: ${result.why}`, "repeat");
  const written = await act(queue, directOperator(context, reason.value), "tree.secure", "/", () =>
    Promise.resolve({ kind: "go", ops: [] }),
  );
  if (written.kind !== "applied")
    return stop(context, EXIT.error, `${said}, but not in the audit: ${written.kind}`, "repeat");
  printer.done({ looked, changed }, String(changed), said);
  return EXIT.ok;
}
