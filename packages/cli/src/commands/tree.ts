/** fsck: through the admin service, or straight to ZooKeeper. */
import { ADMIN, type Finding, type FsckReport, type RepairReport } from "@sluice/wire";
import type { Command } from "../command.ts";
import { type Context, refuse } from "../context.ts";
import { lookDirectly, repairDirectly } from "../direct/fsck.ts";
import { withQueue, ZOOKEEPER } from "../direct/open-queue.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { confirmed, DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";
import { plural, safe } from "../output/text.ts";

export const FSCK_COMMAND: Command = {
  words: ["fsck"],
  says: "Check every rule of the queue's tree, and mend what can be mended safely; 2 if there are findings",
  options: [
    { name: "repair", permission: ADMIN.repair.permission, says: "mend what can be mended; admins only" },
    ZOOKEEPER,
    {
      name: "working-dir",
      value: "FOLDER",
      says: "with --zookeeper: also look for folders of batches that are not in the tree (the admin service always does)",
    },
    REASON,
    DRY_RUN,
    YES,
  ],
  examples: ["fsck", 'fsck --repair --reason "after the power cut" --yes'],
  permission: ADMIN.fsck.permission,
  talksTo: (given) => (given.has("zookeeper") ? "nothing" : "admin"),
  async run(context) {
    const hosts = context.given.text("zookeeper");
    if (hosts !== undefined)
      return await withQueue(context, hosts, async (queue) => {
        const looked = await lookDirectly(context, queue);
        if (typeof looked === "number") return looked;
        return await report(context, looked.report, async (reason) => ({
          ok: true,
          value: await repairDirectly(context, queue, looked.found, reason),
        }));
      });
    const answer = await context.admin.call(ADMIN.fsck, {});
    if (!answer.ok) return refuse(context, answer);
    return await report(context, answer.value, async (reason) => {
      const repaired = await context.admin.call(ADMIN.repair, { body: { reason } });
      return repaired.ok ? repaired : { ok: false, code: refuse(context, repaired) };
    });
  },
};

type Repair = (
  reason: string,
) => Promise<{ readonly ok: true; readonly value: RepairReport } | { readonly ok: false; readonly code: ExitCode }>;

async function report(context: Context, looked: FsckReport, repair: Repair): Promise<ExitCode> {
  const { printer, given } = context;
  const { findings, jobs, batches, rules } = looked;
  const mendable = findings.filter((finding) => finding.repair !== null);
  const mending = given.has("repair") && !given.has("dry-run");
  // One document per answer: with --repair it is the repair's.
  if (!mending || printer.form === "table" || printer.form === "wide") show(context, looked);
  printer.note(
    `${plural(jobs, "job")} and ${plural(batches, "batch", "batches")} by ${plural(rules.length, "rule")}: ` +
      `${plural(findings.length, "finding")}, ${mendable.length} can be mended`,
  );
  if (findings.length === 0) return EXIT.ok;
  if (!mending) {
    if (mendable.length > 0) printer.note("  Next: sluice fsck --repair");
    return EXIT.attention;
  }
  if (mendable.length === 0) return EXIT.attention;
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const sure = await confirmed(context, `Mend ${plural(mendable.length, "finding")}?`);
  if (!sure.ok) return sure.code;
  const repaired = await repair(reason.value);
  if (!repaired.ok) return repaired.code;
  const { value } = repaired;
  printer.show(value, String(value.repaired.length), () => [
    ...value.repaired.map(({ path, what }) => `mended  ${safe(path)}: ${safe(what)}`),
    ...value.left.map(({ path, why }) => `left    ${safe(path)}: ${safe(why)}`),
  ]);
  return value.left.length === 0 ? EXIT.ok : EXIT.attention;
}

function show({ printer }: Context, looked: FsckReport): void {
  printer.list<Finding>({
    raw: looked,
    items: looked.findings,
    columns: [
      { title: "SEVERITY", of: ({ severity }) => severity, state: true },
      { title: "RULE", of: ({ rule }) => rule },
      { title: "PATH", of: ({ path }) => path },
      { title: "WHAT", of: ({ what }) => what, flexible: true },
      { title: "REPAIR", of: ({ repair }) => repair ?? "by hand", flexible: true },
    ],
    nameOf: ({ path }) => path,
    none: "The tree is well.",
  });
}
