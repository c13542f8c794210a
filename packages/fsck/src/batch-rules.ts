/** What must hold of one batch at rest, and how it is mended. Pure. */
import { type BatchState, type Bucket, BUCKETS, isMadeBeside, isOurBatch, paths, records } from "@sluice/queue-core";
import type { BatchFacts, RuleContext, Suspicion } from "./facts.ts";
import { createOp, deleteOp, goneOps, lockSuspicion, sizeSuspicions, unchanged, urlSuspicions } from "./mending.ts";

type Rule = (batch: BatchFacts, context: RuleContext) => readonly Suspicion[];

/** Over: swept from the index, cleaned up job by job. */
const OVER: ReadonlySet<BatchState> = new Set(["Completed", "Deleted"]);
const REPORTED: ReadonlySet<BatchState> = new Set(["Reporting", "UpdateReporting", "Completed"]);
const RESTS: ReadonlySet<BatchState> = new Set(["Held", "Completed", "Deleted"]);

export const judgeBatch: Rule = (batch, context) => {
  if (!batch.exists) return orphans(batch);
  return isForeign(batch) ? foreign(batch, context) : RULES_OF_A_BATCH.flatMap((rule) => rule(batch, context));
};

/** Neither made here nor imported: Merritt's own, and not ours to touch. */
const isForeign = (batch: BatchFacts): boolean =>
  !isOurBatch({ isExpanded: batch.expansion !== null, isListed: batch.entries.length > 0, jobs: jobsOf(batch) });

const foreign: Rule = (batch, { beside }) => {
  const [status, jobs] = [batch.status, jobsOf(batch)];
  const isBeside = beside !== null && status !== null && isMadeBeside(beside, status.node.stat);
  const what = isBeside ? NOT_TAKEN_OVER : "no record that it was made here or imported";
  return [
    {
      rule: "IMPORT",
      path: paths.batch(batch.id),
      what: `${status?.value?.status ?? "without a status"}, ${jobs} jobs: ${what}`,
      sinceMs: since(batch),
      mend: { human: isBeside ? WHY_NOT : BRING_IT },
    },
  ];
};

const BRING_IT = "bring it in with `sluice import`, which says what is in the way; until then nobody works on it";
const NOT_TAKEN_OVER = "made by the program beside this fleet, and not taken over";
const WHY_NOT =
  "the reporter takes it over when all its jobs are made, and logs why it waits; if whoever made them has ended, `sluice import --assume-expanded`";

const since = (batch: BatchFacts): number | null => batch.status?.node.stat.mtime ?? null;
const stateOf = (batch: BatchFacts): BatchState | null => batch.status?.value?.status ?? null;
const sizeOf = (batch: BatchFacts, bucket: Bucket): number => batch.buckets[bucket]?.length ?? 0;
/** One that is listed twice is one: that it is listed twice is another rule's business. */
const jobsOf = (batch: BatchFacts): number => new Set(BUCKETS.flatMap((bucket) => batch.buckets[bucket] ?? [])).size;

function orphans(batch: BatchFacts): readonly Suspicion[] {
  const { id } = batch;
  const orphan = (rule: "I-09" | "INDEX" | "ORPHAN", path: string, version: number): Suspicion => ({
    rule,
    path,
    what: `there is no batch ${id}`,
    sinceMs: null,
    mend: { says: `remove ${path}`, ops: [...goneOps(paths.batch(id)), deleteOp(path, version)] },
  });
  const chunks: Suspicion = {
    rule: "ORPHAN",
    path: paths.batchReports(id),
    what: `there is no batch ${id}`,
    sinceMs: null,
    mend: { human: "its reports may be the only trace of it: keep a copy, then delete them by hand" },
  };
  return [
    ...batch.uuids
      .filter(({ names }) => names === id)
      .map((u) => orphan("I-09", `${paths.batchUuids}/${u.uuid}`, u.version)),
    ...batch.entries.map(({ state, version }) => orphan("INDEX", paths.fleetBatch(state, id), version)),
    ...(batch.due === null ? [] : [orphan("ORPHAN", paths.dueBatch(id), batch.due.stat.version)]),
    ...(batch.expansion === null ? [] : [orphan("ORPHAN", paths.expansion(id), batch.expansion.node.stat.version)]),
    ...(batch.reportChunks ? [chunks] : []),
  ];
}

const whole: Rule = (batch) =>
  (
    [
      [paths.batchSubmission(batch.id), batch.submission],
      [paths.batchStatus(batch.id), batch.status],
    ] as const
  ).flatMap(([path, fact]): Suspicion[] => {
    if (fact?.value != null) return [];
    const human = "compare with a snapshot and write the node again by hand";
    return [
      {
        rule: "I-09",
        path,
        what: fact === null ? "is missing" : "cannot be read",
        sinceMs: since(batch),
        mend: { human },
      },
    ];
  });

const uuids: Rule = (batch) => {
  const uuid = batch.submission?.value?.batchID;
  const named = batch.uuids.filter(({ names }) => names === batch.id);
  const out: Suspicion[] = named
    .filter((each) => each.uuid !== uuid)
    .map((each) => ({
      rule: "I-09",
      path: `${paths.batchUuids}/${each.uuid}`,
      what: `names ${batch.id}, whose submission names ${uuid ?? "none"}`,
      sinceMs: since(batch),
      mend: { human: "find out which submission it belongs to before you remove it" },
    }));
  if (uuid === undefined || named.some((each) => each.uuid === uuid)) return out;
  const path = `${paths.batchUuids}/${uuid}`;
  const taken = batch.uuids.some((each) => each.uuid === uuid);
  const mend: Suspicion["mend"] = taken
    ? { human: "two batches have one UUID: find out which one the depositor was told of" }
    : {
        says: `make ${path} again from the submission`,
        ops: [
          ...unchanged(paths.batchSubmission(batch.id), batch.submission),
          ...unchanged(paths.batchStatus(batch.id), batch.status),
          createOp(path, records.bid.encode(batch.id)),
        ],
      };
  const what = taken ? `names another batch than ${batch.id}` : `is missing; ${batch.id} was submitted under it`;
  return [...out, { rule: "I-09", path, what, sinceMs: since(batch), mend }];
};

const index: Rule = (batch) => {
  const state = stateOf(batch);
  if (state === null) return [];
  const wrong = batch.entries.filter((entry) => entry.state !== state);
  const missing = wrong.length === batch.entries.length && !OVER.has(state);
  if (wrong.length === 0 && !missing) return [];
  const listed = batch.entries.map((entry) => entry.state).join(" and ");
  return [
    {
      rule: "INDEX",
      path: paths.batchStatus(batch.id),
      what: `${state}, listed as ${listed === "" ? "nothing" : listed}`,
      sinceMs: since(batch),
      mend: {
        says: `list it as ${state}`,
        ops: [
          ...unchanged(paths.batchStatus(batch.id), batch.status),
          ...wrong.map((entry) => deleteOp(paths.fleetBatch(entry.state, batch.id), entry.version)),
          ...(missing ? [createOp(paths.fleetBatch(state, batch.id))] : []),
        ],
      },
    },
  ];
};

const states: Rule = (batch) => {
  const state = stateOf(batch);
  const missing = BUCKETS.filter((bucket) => batch.buckets[bucket] === null);
  if (missing.length === 0 || state === null || isNotBegun(batch, state)) return [];
  return [
    {
      rule: "STATES",
      path: paths.batchStates(batch.id),
      what: `without ${missing.join(", ")}`,
      sinceMs: since(batch),
      mend: {
        says: "make what is missing, empty",
        ops: [
          ...unchanged(paths.batchStatus(batch.id), batch.status),
          ...(batch.hasStates ? [] : [createOp(paths.batchStates(batch.id))]),
          ...missing.map((bucket) => createOp(paths.bucket(batch.id, bucket))),
        ],
      },
    },
  ];
};

/** Another library makes a batch without them; they come with its start. */
const isNotBegun = (batch: BatchFacts, state: BatchState): boolean =>
  (state === "Pending" || state === "Held") && !batch.hasStates;

const expansion: Rule = (batch) => {
  const state = stateOf(batch);
  if (state === null || OVER.has(state)) return [];
  const [jobs, fact] = [jobsOf(batch), batch.expansion];
  const say = (what: string): Suspicion[] => [
    {
      rule: "I-10",
      path: paths.expansion(batch.id),
      what,
      sinceMs: since(batch),
      mend: { human: "mend its jobs first (I-04 to I-08); if it stays, compare with the manifest in its folder" },
    },
  ];
  if (fact === null) return jobs === 0 ? [] : say(`${jobs} jobs, and no record of the expansion`);
  if (fact.value === null) return say("cannot be read");
  const { rows, created } = fact.value;
  if (created !== jobs) return say(`${created} jobs were made, ${jobs} are there`);
  return REPORTED.has(state) && rows !== jobs ? say(`${state} with ${jobs} of ${rows} jobs`) : [];
};

/** While it is whole: clean-up takes its jobs away, and a failed batch's jobs may be resumed after the report. */
const verdict: Rule = (batch) => {
  if (stateOf(batch) !== "Completed" || jobsOf(batch) !== batch.expansion?.value?.created) return [];
  const mend = {
    human: "find out in the audit and the logs how it came to be Completed; report again by hand",
  } as const;
  const failed = sizeOf(batch, "batch-failed");
  const out: Suspicion[] = [];
  if (failed > 0) {
    const what = `Completed with ${failed} failed jobs`;
    out.push({ rule: "I-13", path: paths.batchStatus(batch.id), what, sinceMs: since(batch), mend });
  }
  const report = batch.report?.value;
  const listed = report?.counts?.successful ?? new Set(report?.successful_jobs ?? []).size;
  const names = new Set(batch.buckets["batch-completed"]);
  const strangers = (report?.successful_jobs ?? []).filter((id) => !names.has(id)).length;
  if (report == null || listed !== names.size || strangers > 0) {
    const what = report == null ? "is missing or cannot be read" : `lists ${listed} jobs, ${names.size} are completed`;
    out.push({ rule: "I-12", path: paths.batchReport(batch.id), what, sinceMs: since(batch), mend });
  }
  return out;
};

const locks: Rule = (batch, context) => {
  const state = stateOf(batch);
  if (batch.lock === null || state === null) return [];
  return lockSuspicion({
    path: paths.batchLock(batch.id),
    lock: batch.lock,
    rests: RESTS.has(state) ? state : null,
    guard: unchanged(paths.batchStatus(batch.id), batch.status),
    context,
  });
};

const contents: Rule = (batch) =>
  (
    [
      [paths.batchSubmission(batch.id), batch.submission],
      [paths.batchReport(batch.id), batch.report],
    ] as const
  ).flatMap(([path, fact]) =>
    fact === null ? [] : [...sizeSuspicions(path, fact.node.data), ...urlSuspicions(path, fact.node.data)],
  );

const RULES_OF_A_BATCH: readonly Rule[] = [whole, uuids, index, states, expansion, verdict, locks, contents];

export const batchStamp = (batch: BatchFacts): string =>
  [
    ...[batch.status, batch.submission, batch.report, batch.expansion].map((fact) => fact?.node.stat.mzxid ?? "-"),
    ...BUCKETS.map((bucket) => sizeOf(batch, bucket)),
  ].join();
