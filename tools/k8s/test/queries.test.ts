/** What the scalers ask for, answered by a real Prometheus engine: from zero, under load, and when nobody knows. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { findPromtool, skipUnless } from "@sluice/local-parts";
import { STAGES } from "@sluice/queue-core";
import { stringify } from "yaml";
import { queriesOfStage } from "../src/checks/metrics.ts";
import { ofKind } from "../src/object.ts";
import { kustomize, rendered } from "./overlays.ts";

const promtool = await findPromtool();
const production = rendered("production");

interface Situation {
  readonly what: string;
  /** Series without their values, and the value that each has all the time. */
  readonly series: (stage: string) => Readonly<Record<string, number>>;
  readonly work: number | null;
}

const ready = (stage: string, pod: string, namespace = "sluice"): string =>
  `sluice_queue_ready_jobs{namespace="${namespace}",pod="${pod}",queue="ingest",stage="${stage}"}`;
const inHand = (stage: string, pod: string): string =>
  `sluice_stage_jobs_in_progress{namespace="sluice",pod="${pod}",stage="${stage}"}`;

const SITUATIONS: readonly Situation[] = [
  {
    what: "a stage at zero is woken by what is ready, which two admins report",
    series: (stage) => ({ [ready(stage, "admin-1")]: 5, [ready(stage, "admin-2")]: 5 }),
    work: 5,
  },
  {
    what: "a busy stage with an empty queue keeps its workers",
    series: (stage) => ({ [ready(stage, "admin-1")]: 0, [inHand(stage, "a")]: 3, [inHand(stage, "b")]: 1 }),
    work: 4,
  },
  {
    what: "without admin there is no answer, although workers export theirs",
    series: (stage) => ({ [inHand(stage, "a")]: 3 }),
    work: null,
  },
  {
    what: "another installation does not count",
    series: (stage) => ({ [ready(stage, "admin-1")]: 1, [ready(stage, "admin-1", "sluice-dev")]: 900 }),
    work: 1,
  },
];

/** Says what is wrong; "" when everything is as expected. */
async function evaluate(tests: readonly object[], groups: unknown): Promise<string> {
  if ("skip" in promtool) throw new Error(promtool.skip);
  const folder = await mkdtemp(join(tmpdir(), "sluice-queries-"));
  try {
    await writeFile(join(folder, "rules.yml"), stringify({ groups }));
    await writeFile(join(folder, "test.yml"), stringify({ rule_files: ["rules.yml"], tests }));
    const run = promisify(execFile)(promtool.path, ["test", "rules", join(folder, "test.yml")]);
    return await run.then(
      () => "",
      (error: unknown) => (error instanceof Error ? error.message + JSON.stringify(error) : String(error)),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isNoneEnough = (spec: unknown): boolean => (spec as { readonly minReplicaCount: number }).minReplicaCount === 0;
const samples = (value: number | null, labels: string) => (value === null ? [] : [{ labels, value }]);
const at = (expr: string, exp_samples: readonly object[]) => ({ expr, eval_time: "5m", exp_samples });
const always = (values: Readonly<Record<string, number>>) =>
  Object.entries(values).map(([series, value]) => ({ series, values: `${value}x10` }));

skipUnless(describe, "skip" in kustomize ? kustomize : promtool)("the scalers' questions", () => {
  const groups = ofKind(rendered("production-hpa"), "PrometheusRule")
    .filter(({ metadata }) => metadata.name === "scaling")
    .flatMap(({ spec }) => (spec as { readonly groups: readonly unknown[] }).groups);

  test.each(SITUATIONS)("$what; with KEDA and without", async ({ series, work }) => {
    const tests = STAGES.map((stage) => ({
      interval: "1m",
      input_series: always(series(stage)),
      promql_expr_test: [
        at(queriesOfStage(production, stage).get("work")!, samples(work, "{}")),
        at(
          `sluice_stage_work{namespace="sluice",stage="${stage}"}`,
          samples(work, `sluice_stage_work{namespace="sluice",stage="${stage}"}`),
        ),
      ],
    }));
    expect(await evaluate(tests, groups)).toBe("");
  });

  test.each([
    ["a job was settled a minute ago: one replica", { a: 240, b: 10 }, 1],
    ["none was for three minutes: none is kept for it", { a: 120, b: 10 }, 0],
    ["a pod has settled nothing yet: none is kept for it", { a: 0 }, 0],
    ["nobody runs: none is kept for it", {}, 0],
  ])("%s", async (_what, settledAt, replicas) => {
    const tests = STAGES.flatMap((stage) => {
      const query = queriesOfStage(production, stage).get("recent");
      const series = Object.entries(settledAt).map(([pod, seconds]) => [
        `sluice_stage_last_settled_timestamp_seconds{namespace="sluice",pod="${pod}",stage="${stage}"}`,
        seconds,
      ]);
      const input_series = always(Object.fromEntries(series) as Record<string, number>);
      // Asked at second 300.
      return query === undefined
        ? []
        : [{ interval: "1m", input_series, promql_expr_test: [at(query, samples(replicas, "{}"))] }];
    });
    const mayBeNone = ofKind(production, "ScaledObject").filter(({ spec }) => isNoneEnough(spec));
    expect(tests.length).toBe(mayBeNone.length);
    expect(await evaluate(tests, groups)).toBe("");
  });

  const jobApi = (pod: string, ready: number, shards: number, age: number): Readonly<Record<string, number>> => {
    const labels = `namespace="sluice",pod="${pod}"`;
    return {
      [`sluice_jobs_ready{${labels},by="runners"}`]: ready,
      [`sluice_jobs_ready{${labels},by="workers"}`]: 1_000,
      [`sluice_jobs_oldest_ready_age_seconds{${labels},by="runners"}`]: age,
      [`sluice_jobs_oldest_ready_age_seconds{${labels},by="workers"}`]: 1_000,
      [`sluice_jobs_shards_owned{${labels}}`]: shards,
    };
  };
  const runsInHand = { 'sluice_job_runs_in_hand{namespace="sluice",pod="runner"}': 7 };

  test.each([
    ["each job-api has its part of what runners wait for, and what they have in hand counts", 9, { ...runsInHand }, 22],
    ["no runner runs: what is ready counts alone", 9, {}, 15],
    ["a shard has no owner: there is no answer", 8, { ...runsInHand }, null],
  ])("the general queue: %s", async (_what, shards, inHandThere, work) => {
    const input_series = always({ ...jobApi("a", 5, 7, 30), ...jobApi("b", 10, shards, 90), ...inHandThere });
    const age = work === null ? null : 90;
    const recorded = (name: string): string => `${name}{namespace="sluice",queue="jobs"}`;
    const promql_expr_test = [
      at(queriesOfStage(production, "job-runner").get("work")!, samples(work, "{}")),
      at(queriesOfStage(production, "job-runner").get("age")!, samples(age, "{}")),
      at("sluice_runners_work", samples(work, recorded("sluice_runners_work"))),
      at("sluice_runners_age", samples(age, recorded("sluice_runners_age"))),
    ];
    expect(await evaluate([{ interval: "1m", input_series, promql_expr_test }], groups)).toBe("");
  });

  test.each([
    ["no journal holds anything: nobody is kept for it", [0, 0, 0], 0],
    ["one holds something: all stay", [0, 2, 0], 3],
  ])("%s", async (_what, records, replicas) => {
    const journals = records.map((value, pod) => [
      `sluice_journal_records{namespace="sluice",pod="batch-intake-${pod}"}`,
      value,
    ]);
    const input_series = always(Object.fromEntries(journals) as Record<string, number>);
    const expected = 'sluice_intake_journals{namespace="sluice",stage="batch-intake"}';
    const promql_expr_test = [
      at(queriesOfStage(production, "batch-intake").get("journal")!, samples(replicas, "{}")),
      at("sluice_intake_journals", samples(replicas, expected)),
    ];
    expect(await evaluate([{ interval: "1m", input_series, promql_expr_test }], groups)).toBe("");
  });
});
