/** One stage of the tree for a program that uses CDL's library: let in, shown, ended. */
import { type ActionResult, beginBeside, BESIDE_STAGES, endBeside, readBeside } from "@sluice/queue-core";
import { type Command, toNobody } from "../command.ts";
import { type Context, stop } from "../context.ts";
import { directOperator, type OpenQueue, withQueue, ZOOKEEPER } from "../direct/open-queue.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { confirmed, REASON, reasonFor, YES } from "../interact/confirm.ts";

const straight =
  (work: (context: Context, queue: OpenQueue) => Promise<ExitCode>): Command["run"] =>
  async (context) => {
    const hosts = context.given.text("zookeeper");
    if (hosts === undefined)
      return stop(context, EXIT.usage, "this is settled straight in ZooKeeper", "add --zookeeper HOSTS");
    return await withQueue(context, hosts, (queue) => work(context, queue));
  };

export const BESIDE_COMMANDS: readonly Command[] = [
  {
    words: ["beside", "start"],
    says: "Let a program with CDL's library have a stage of this tree, beside our fleet; what it may do: docs/importing-merritt.md",
    takes: [{ name: "STAGE", choices: BESIDE_STAGES }],
    options: [ZOOKEEPER, REASON, YES],
    examples: [
      'beside start recorder --zookeeper zk1:2181/sluice --reason "the inventory team keeps its Java service"',
    ],
    talksTo: toNobody,
    run: straight(start),
  },
  {
    words: ["beside", "end"],
    says: "End that: the program must have stopped, and what it has made must be taken up (sluice fsck)",
    options: [ZOOKEEPER, REASON, YES],
    examples: ['beside end --zookeeper zk1:2181/sluice --reason "our recorder takes over"'],
    talksTo: toNobody,
    run: straight(end),
  },
  {
    words: ["beside", "show"],
    says: "Which stage such a program has, since when, and why; 2 if none has",
    options: [ZOOKEEPER],
    examples: ["beside show --zookeeper zk1:2181/sluice"],
    talksTo: toNobody,
    run: straight(show),
  },
];

async function start(context: Context, queue: OpenQueue): Promise<ExitCode> {
  const stage = BESIDE_STAGES.find((each) => each === context.args[0]);
  if (stage === undefined) return stop(context, EXIT.usage, `a stage is one of ${BESIDE_STAGES.join(", ")}`);
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const question =
    `Let a program with CDL's library work as ${stage}? It knows no fence: what it writes after it has lost a job\n` +
    "cannot be prevented, only noticed. Nodes stay open to everyone who reaches ZooKeeper.";
  const sure = await confirmed(context, question, stage);
  if (!sure.ok) return sure.code;
  const result = await beginBeside(queue, directOperator(context, reason.value), stage);
  return answer(context, result, { stage }, stage, `${stage} may be a program with CDL's library from now on`);
}

async function end(context: Context, queue: OpenQueue): Promise<ExitCode> {
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const sure = await confirmed(context, "Has that program stopped for good?");
  if (!sure.ok) return sure.code;
  const result = await endBeside(queue, directOperator(context, reason.value));
  return answer(context, result, { stage: null }, "ended", "this fleet is alone on its tree again");
}

function answer(context: Context, result: ActionResult, raw: object, name: string, says: string): ExitCode {
  if (result.kind === "applied") {
    context.printer.done(raw, name, says);
    return EXIT.ok;
  }
  const code = result.kind === "lost" ? EXIT.error : EXIT.refused;
  return stop(context, code, "why" in result ? result.why : "ZooKeeper does not answer any more");
}

async function show(context: Context, { session }: OpenQueue): Promise<ExitCode> {
  const beside = await readBeside(session);
  if (!beside.ok) return stop(context, EXIT.error, "ZooKeeper does not answer any more");
  if (beside.value === null) {
    context.printer.done({ stage: null }, "none", "no other program has a stage");
    return EXIT.attention;
  }
  const { stage, record } = beside.value;
  const { by, since, why } = record;
  context.printer.done({ stage, by, since, why }, stage, `${stage} since ${since}, let in by ${by}: ${why}`);
  return EXIT.ok;
}
