/** Batches that a restored tree does not know: shown, made again, forgotten. */
import {
  canBeForgotten,
  canBeMade,
  type Forgetting,
  lookForLost,
  type LostBatch,
  makeAgain,
  openForgetting,
} from "@sluice/lost-batches";
import { act, type IdBlocks, makeIdBlocks } from "@sluice/queue-core";
import { type Context, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { confirmed, reasonFor } from "../interact/confirm.ts";
import { plural, safe } from "../output/text.ts";
import type { LostParts } from "./lost-parts.ts";
import { directOperator, type OpenQueue } from "./open-queue.ts";

export interface LostWork {
  readonly creates: boolean;
  readonly forgets: boolean;
  /** A batch's number or UUID; null: all. */
  readonly only: string | null;
  /** When the snapshot was taken. */
  readonly since: string | null;
}

export async function lookDirectly(
  context: Context,
  queue: OpenQueue,
  { workingDir, inventory }: LostParts,
  work: LostWork,
): Promise<ExitCode> {
  const since = work.since === null ? {} : { since: work.since };
  const looked = await lookForLost({ session: queue.session, workingDir, inventory, ...since });
  if (!looked.ok) return stop(context, EXIT.error, looked.why);
  const lost = looked.lost.filter(({ evidence }) => isNamed(evidence, work.only));
  const plan = planOf(lost, work);
  const changes = plan.make.length + plan.forget.length;
  const isDry = context.given.has("dry-run") || changes === 0;
  // One document per answer: where something is changed it is what was done.
  if (isDry || context.printer.form === "table" || context.printer.form === "wide") show(context, looked, lost);
  if (isDry) return tell(context, lost, work, inventory !== null);
  return await apply(context, queue, plan, { workingDir, lost });
}

interface Plan {
  readonly make: readonly LostBatch[];
  readonly forget: readonly LostBatch[];
}

/** What was named is made again also where nothing asks for it. */
function planOf(lost: readonly LostBatch[], { creates, forgets, only }: LostWork): Plan {
  const isToMake = ({ evidence, judgement }: LostBatch): boolean =>
    judgement.verdict === "make-again" || (only !== null && canBeMade(evidence));
  return {
    make: creates ? lost.filter(isToMake) : [],
    forget: forgets ? lost.filter(({ judgement }) => canBeForgotten(judgement.verdict)) : [],
  };
}

const isNamed = ({ batch, accepted }: LostBatch["evidence"], only: string | null): boolean =>
  only === null || batch === only || accepted?.uuid === only;

function viewOf({ evidence, judgement }: LostBatch) {
  const { batch, place, accepted, folder, recorded, told, uploads, badRecord } = evidence;
  const { submission } = accepted ?? {};
  return {
    batch,
    uuid: accepted?.uuid ?? null,
    epoch: place?.batchEpoch ?? null,
    profile: submission?.profile_name ?? null,
    submitter: submission?.submitter ?? null,
    title: submission?.erc_what ?? null,
    submitted: submission?.["submission_date"] ?? null,
    uploads: uploads.length,
    folder,
    reached: judgement.reached,
    recorded,
    report_sent: told,
    record_problem: badRecord,
    verdict: judgement.verdict,
    todo: judgement.todo,
    depositor_must_be_told: judgement.tell,
  };
}
type View = ReturnType<typeof viewOf>;

function show({ printer }: Context, looked: { fleet: string; epoch: number }, lost: readonly LostBatch[]): void {
  const items = lost.map(viewOf);
  printer.list<View>({
    raw: { fleet: looked.fleet, epoch: looked.epoch, lost: items },
    items,
    columns: [
      { title: "BATCH", of: ({ batch }) => batch },
      { title: "UUID", of: ({ uuid }) => uuid ?? "", wide: true },
      { title: "PROFILE", of: ({ profile }) => profile ?? "" },
      { title: "SUBMITTER", of: ({ submitter }) => submitter ?? "" },
      { title: "REACHED", of: ({ reached }) => reached },
      { title: "RECORDED", of: ({ recorded }) => (recorded === null ? "?" : String(recorded)), right: true },
      { title: "UPLOADS", of: ({ uploads }) => String(uploads), right: true },
      { title: "VERDICT", of: ({ verdict }) => verdict },
      { title: "TODO", of: ({ todo }) => todo, flexible: true },
      { title: "FOLDER", of: ({ folder }) => folder ?? "", wide: true },
    ],
    nameOf: ({ batch }) => batch,
    none: "Nothing is lost: the tree knows every batch that was accepted.",
  });
}

function tell(context: Context, lost: readonly LostBatch[], work: LostWork, asked: boolean): ExitCode {
  const { printer } = context;
  const [makeable, people] = [planOf(lost, { ...work, creates: true }).make.length, toTell(lost)];
  if (!asked)
    printer.note("  The inventory was not asked: what was recorded or archived is not known (--inventory URL)");
  if (lost.length === 0) return EXIT.ok;
  printer.note(
    `${plural(lost.length, "batch", "batches")}: ${makeable} can be made again, ${people} must be told by a person`,
  );
  if (makeable > 0) printer.note("  Next: sluice lost --create, with the same options");
  return EXIT.attention;
}

const toTell = (lost: readonly LostBatch[]): number => lost.filter(({ judgement }) => judgement.tell).length;

interface Done {
  readonly made: string[];
  readonly forgotten: string[];
  readonly left: { readonly batch: string; readonly why: string }[];
}

async function apply(
  context: Context,
  queue: OpenQueue,
  plan: Plan,
  { workingDir, lost }: { readonly workingDir: string; readonly lost: readonly LostBatch[] },
): Promise<ExitCode> {
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const sure = await confirmed(context, questionOf(plan));
  if (!sure.ok) return sure.code;
  const order = `lost.create ${plan.make.length}, lost.forget ${plan.forget.length}`;
  const audited = await act(queue, directOperator(context, reason.value), "tree.lost", order, () =>
    Promise.resolve({ kind: "go", ops: [] }),
  );
  if (audited.kind !== "applied") return stop(context, EXIT.error, `not in the audit: ${audited.kind}`, "repeat");
  const done: Done = { made: [], forgotten: [], left: [] };
  const ids = makeIdBlocks(queue);
  for (const each of plan.make) await makeOne(queue, ids, each, done);
  const forgetting = await openForgetting(workingDir);
  for (const each of plan.forget) await forgetOne(forgetting, each, done);
  return report(context, done, toTell(lost));
}

function questionOf({ make, forget }: Plan): string {
  const parts = [
    ...(make.length === 0 ? [] : [`make ${plural(make.length, "batch", "batches")} again`]),
    ...(forget.length === 0 ? [] : [`remove what is left of ${plural(forget.length, "batch", "batches")}, files too`]),
  ];
  const text = parts.join(" and ");
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}?`;
}

async function makeOne(queue: OpenQueue, ids: IdBlocks, { evidence }: LostBatch, done: Done): Promise<void> {
  const made = await makeAgain(queue, ids, evidence);
  const { batch } = evidence;
  if (made.kind === "made") done.made.push(batch);
  else done.left.push({ batch, why: made.kind === "lost" ? "ZooKeeper does not answer: repeat" : made.why });
}

async function forgetOne(forgetting: Forgetting, { evidence }: LostBatch, done: Done): Promise<void> {
  const why = await forgetting.forget(evidence);
  if (why === null) done.forgotten.push(evidence.batch);
  else done.left.push({ batch: evidence.batch, why });
}

function report({ printer }: Context, { made, forgotten, left }: Done, people: number): ExitCode {
  printer.show({ made, forgotten, left }, String(made.length), () => [
    ...made.map((batch) => `made again  ${batch}`),
    ...forgotten.map((batch) => `forgotten   ${batch}`),
    ...left.map(({ batch, why }) => `left        ${batch}: ${safe(why)}`),
  ]);
  if (people > 0)
    printer.note(`  ${plural(people, "batch", "batches")} of which people must be told: sluice lost shows them`);
  return left.length + people === 0 ? EXIT.ok : EXIT.attention;
}
