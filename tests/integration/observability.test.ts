/** A real Prometheus over a real fleet: every rule and every panel is asked, and an alert really fires. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { findPrometheus, skipUnless } from "@sluice/local-parts";
import { ownZooKeeper, type OwnZooKeeper, waitFor } from "@sluice/testkit";
import { type Content, receiveCallbacks, type Receiver, serveContent } from "../support/content.ts";
import {
  type Fleet,
  makeFleet,
  PIPELINE_SERVICES,
  type Running,
  type ServiceName,
  untilReady,
} from "../support/fleet.ts";
import { DEPLOY, prometheusOver, type TestPrometheus } from "../support/prometheus.ts";

const tool = await findPrometheus();

let zk: OwnZooKeeper;
let content: Content;
let receiver: Receiver;
let fleet: Fleet;
let running: readonly Running[];
let prometheus: TestPrometheus;
const ends: (() => Promise<unknown>)[] = [];

const SERVICES: readonly ServiceName[] = [...PIPELINE_SERVICES, "admin", "job-api", "job-runner", "stage-api"];
const processOf = (service: ServiceName): Running => running.find((each) => each.service === service)!;

if ("path" in tool) {
  beforeAll(async () => {
    [zk, content, receiver] = await Promise.all([ownZooKeeper(), serveContent(), receiveCallbacks()]);
    ends.push(() => Promise.all([zk.stop(), content.close(), receiver.close()]));
    fleet = await makeFleet({
      zookeeper: zk.connect,
      // A busy machine must not look like trouble.
      sessionMs: 30_000,
      callbackUrl: receiver.url,
      env: { FSCK_INTERVAL_MS: "500", SURVEY_MAX_AGE_MS: "0" },
    });
    ends.push(() => fleet.stop());
    running = await fleet.startAll(SERVICES.filter((service) => service !== "job-runner"));
    const runner = await fleet.start("job-runner", { JOB_API_URL: processOf("job-api").url });
    await untilReady(runner);
    running = [...running, runner];
    prometheus = await prometheusOver(tool.path, {
      targets: running.map(({ metricsUrl }) => new URL(metricsUrl).host),
      atOnce: ["SluiceNoWorkers"],
    });
    ends.push(() => prometheus.stop());
    // Counters are seen to grow only if they were seen before.
    await waitFor(async () => {
      const scraped = await prometheus.query('count_over_time(up{job="sluice"}[1m]) > 1');
      return scraped.length === SERVICES.length;
    });
    expect((await fetch(`${processOf("admin").url}/v1/overview`)).status).toBe(200);
    expect((await fetch(`${processOf("stage-api").url}/v1/stages/recorder`)).status).toBe(200);
    const created = await fetch(`${processOf("job-api").url}/v1/tenants/default/commands/CreateJob`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "watched" }),
    });
    expect(created.status).toBe(200);
    await fleet.submit(processOf("batch-intake"), {
      payload_url: content.batchManifest(3),
      type: "single-file-batch-manifest",
    });
    await waitFor(async () => (await valueOf('max(sluice_batches{state="Completed"})')) === 1);
  });

  // Also when a start in the middle failed: the first started is ended last.
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
}

async function valueOf(expression: string): Promise<number | null> {
  const [sample] = await prometheus.query(expression);
  return sample === undefined ? null : Number(sample.value[1]);
}

/** Services are scraped one after the other: what one has done is seen before what another has. */
const scraped = (expression: string, atLeast: number): Promise<number> =>
  waitFor(
    async () => {
      const value = await valueOf(expression);
      return value !== null && value >= atLeast && value;
    },
    { what: expression },
  );

/** Those of `expressions` that Prometheus has nothing for. */
async function withoutData(expressions: readonly string[]): Promise<readonly string[]> {
  const samples = await Promise.all(expressions.map((expression) => prometheus.query(expression)));
  return expressions.filter((_, i) => samples[i]?.length === 0);
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** What a look at all stages, or all servers, asks. */
async function panelExpressions(): Promise<readonly string[]> {
  const folder = join(DEPLOY, "grafana/dashboards");
  const boards = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
  return boards.flatMap((text) => {
    const { panels } = JSON.parse(text) as { readonly panels: readonly Panel[] };
    return panels.flatMap(({ targets = [] }) =>
      targets.map(({ expr }) => expr.replaceAll(/\$(namespace|stage|server)\b/g, ".*")),
    );
  });
}

/** What a fleet that is well, on one ZooKeeper that does not wait for its disk, has no numbers of. */
const NOTHING_WHEN_WELL =
  /attempts_total|odd_entries|overdue|claims_closed|operation_errors|violations\{.*\}\) > 0|learners|synced_followers|fsync|changes_total|operations_total|turned_away|term_ends|lifted|released/;

describe("a real Prometheus over a real fleet", () => {
  const given = skipUnless(test, tool);

  given("evaluates every rule that we ship, and records what alerts and dashboards need", async () => {
    const rules = await waitFor(async () => {
      const found = await prometheus.rules();
      return found.every(({ health }) => health !== "unknown") && found;
    });
    expect(rules.filter(({ health }) => health !== "ok").map(({ name, lastError }) => [name, lastError])).toEqual([]);
    expect(rules.filter(({ type }) => type === "alerting").length).toBeGreaterThan(20);
    const recorded = [...new Set(rules.filter(({ type }) => type === "recording").map(({ name }) => name))];
    const missing = new Set(recorded);
    await waitFor(async () => {
      for (const name of recorded) if ((await prometheus.query(name)).length > 0) missing.delete(name);
      return missing.size === 0;
    }).catch(() => undefined);
    expect([...missing]).toEqual([]);
  });

  given("answers every panel of every dashboard, with numbers where a fleet that is well has some", async () => {
    const expressions = await panelExpressions();
    expect(expressions.length).toBeGreaterThan(60);
    const needed = expressions.filter((expression) => !NOTHING_WHEN_WELL.test(expression));
    const optional = expressions.filter((expression) => NOTHING_WHEN_WELL.test(expression));
    // That they are no error is all that is asked of them.
    await withoutData(optional);
    let missing: readonly string[] = needed;
    await waitFor(async () => (missing = await withoutData(missing)).length === 0).catch(() => undefined);
    expect(missing).toEqual([]);
  });

  given("sees the work that was done", async () => {
    const done = 'sum by (stage) (sluice_stage_jobs_total{outcome="done"})';
    const stages = PIPELINE_SERVICES.filter((stage) => stage !== "reporter");
    const counts = await waitFor(async () => {
      const samples = await prometheus.query(done);
      const all = Object.fromEntries(samples.map(({ metric, value }) => [metric["stage"] ?? "", Number(value[1])]));
      return stages.every((stage) => (all[stage] ?? 0) >= 3) && all;
    });
    expect(counts).toEqual(Object.fromEntries(stages.map((stage) => [stage, 3])));
    expect(await scraped('sum(sluice_mail_sent_total{outcome="sent"})', 1)).toBe(1);
    expect(await scraped('sum(sluice_callback_total{outcome="accepted"})', 3)).toBe(3);
    expect(await scraped("max(sluice_zk_server_up)", 1)).toBe(1);
    expect(await valueOf("sum(sluice_consistency_violations)")).toBe(0);
    const firing = (await prometheus.alerts()).filter(({ state }) => state === "firing");
    expect(firing.map(({ labels }) => labels["alertname"])).toEqual([]);
  });

  given("finds in each line about a job who wrote it, and about what", async () => {
    const logs = await Promise.all(running.map(({ log }) => log()));
    const lines = logs.flatMap((text) =>
      text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Readonly<Record<string, unknown>>])),
    );
    const incomplete = (keys: readonly string[]) => (line: Readonly<Record<string, unknown>>) =>
      keys.some((key) => line[key] === undefined);
    const started = lines.filter(({ worker }) => worker !== undefined);
    expect(started.filter(incomplete(["time", "level", "service", "stage", "worker", "msg"]))).toEqual([]);
    const ofJobs = lines.filter((line) => line["job_id"] !== undefined && line["inbox"] === undefined);
    expect(ofJobs.filter(incomplete(["batch_id", "attempt", "stage", "worker"]))).toEqual([]);
    const settled = lines.filter(({ msg }) => msg === "job settled");
    expect(new Set(settled.map((line) => line["stage"])).size).toBe(PIPELINE_SERVICES.length - 1);
    // A `job` is one of the general queue.
    const ofIngest = lines.filter(({ service }) => service !== "job-api" && service !== "job-runner");
    expect(ofIngest.filter((line) => "job" in line || "batch" in line)).toEqual([]);
  });

  given("fires SluiceNoWorkers when the only worker of a stage is stopped and work is ready", async () => {
    await processOf("downloader").child.stop();
    await fleet.submit(processOf("batch-intake"), {
      payload_url: content.batchManifest(1),
      type: "single-file-batch-manifest",
    });
    const alert = await waitFor(async () =>
      (await prometheus.alerts()).find(
        ({ labels, state }) => labels["alertname"] === "SluiceNoWorkers" && state === "firing",
      ),
    );
    expect(alert).toMatchObject({
      labels: { stage: "downloader", severity: "critical" },
      annotations: { summary: "Nobody works for downloader", runbook_url: "docs/runbook.md#sluicenoworkers" },
    });
    await fleet.start("downloader");
    await waitFor(async () =>
      (await prometheus.alerts()).every(({ labels }) => labels["alertname"] !== "SluiceNoWorkers"),
    );
  });
});
