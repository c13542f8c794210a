/** Goal: a deposit can be followed from its submission to its mail, over every process and every attempt. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { STAGES } from "@sluice/queue-core";
import {
  type CollectedSpan,
  type Collector,
  type OwnZooKeeper,
  ownZooKeeper,
  startCollector,
  waitFor,
} from "@sluice/testkit";
import { type Content, receiveCallbacks, type Receiver, serveContent } from "../support/content.ts";
import { mails, readMail } from "../support/effects.ts";
import { type Fleet, makeFleet, PROFILE, type Running, untilReady } from "../support/fleet.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";

let zk: OwnZooKeeper;
let fleet: Fleet;
let content: Content;
let receiver: Receiver;
let collector: Collector;
let running: readonly Running[];

beforeAll(async () => {
  [zk, content, receiver, collector] = await Promise.all([
    ownZooKeeper(),
    serveContent(),
    receiveCallbacks(),
    startCollector(),
  ]);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  fleet = await makeFleet({ zookeeper: zk.connect, sessionMs: 4_000, callbackUrl: receiver.url, env });
  running = await fleet.startAll(STAGES.filter((stage) => stage !== "estimator"));
});
afterAll(async () => {
  await fleet.stop();
  await Promise.all([zk.stop(), content.close(), receiver.close(), collector.close()]);
});

const stageOf = ({ attributes }: CollectedSpan) => attributes["messaging.destination.name"];

test("a batch is one trace, each of its jobs another, and attempts know those before them", async () => {
  // The first estimator dies with a job in its hands: that attempt is told of by the next one only.
  const doomed = await fleet.start("estimator", { FAILPOINTS: "estimator.afterClaim=kill", STAGE_CONCURRENCY: "1" });
  const intake = running.find(({ service }) => service === "batch-intake")!;
  const answer = await fetch(`${intake.url}/v1/batches`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent: `00-${TRACE}-${CALLER}-01` },
    body: JSON.stringify({
      profile: PROFILE,
      submitter: "test",
      payload_url: content.batchManifest(2),
      type: "single-file-batch-manifest",
    }),
  });
  expect(answer.status).toBe(202);
  await doomed.child.exited;
  await untilReady(await fleet.start("estimator"));

  const { spans } = collector;
  const named = (name: string) => spans.filter((span) => span.name === name);
  await waitFor(() => named("send mail").length > 0 && named("process notifier").length === 2);
  const [mail] = await mails(fleet.dataDir);
  expect(await readMail(fleet.dataDir, mail!)).toContain(`00-${TRACE}-`);

  const [submitted] = named("POST /v1/batches");
  expect(submitted).toMatchObject({ service: "batch-intake", traceId: TRACE, parentSpanId: CALLER });
  expect(named("send mail")).toMatchObject([{ service: "reporter", traceId: TRACE }]);
  const batchSteps = spans.filter(({ name }) => name.endsWith(" batch"));
  expect(new Set(batchSteps.map(stageOf))).toEqual(new Set(["batch-intake", "reporter"]));
  for (const { traceId, parentSpanId } of batchSteps) {
    expect({ traceId, parentSpanId }).toEqual({ traceId: TRACE, parentSpanId: submitted!.spanId });
  }

  const created = named("create job");
  expect(created).toHaveLength(2);
  expect(new Set(created.map(({ traceId }) => traceId)).add(TRACE).size).toBe(3);
  let linksToTheDead = 0;
  for (const job of created) {
    expect(job.links).toMatchObject([{ traceId: TRACE }]);
    const attempts = spans.filter(({ traceId, name }) => traceId === job.traceId && name.startsWith("process "));
    expect(attempts.every(({ parentSpanId }) => parentSpanId === job.spanId)).toBe(true);
    const stages = new Set(attempts.map(stageOf));
    for (const stage of STAGES.filter((each) => each !== "reporter")) expect(stages).toContain(stage);
    const sent = new Set(attempts.map(({ spanId }) => spanId));
    const linked = attempts.flatMap(({ links }) => links);
    // Only the very first has none before it. An attempt that died could not be sent: only the next one tells of it.
    const died = linked.filter(({ spanId }) => !sent.has(spanId)).length;
    expect(linked).toHaveLength(attempts.length - 1);
    linksToTheDead += died;
    const callback = spans.find(({ name, traceId }) => name === "POST" && traceId === job.traceId);
    expect(callback).toMatchObject({ service: "notifier" });
  }
  expect(linksToTheDead).toBe(1);
});

test("lines of the logs say which trace they belong to", async () => {
  const logs = await Promise.all(running.map(({ log }) => log()));
  const traceOfJob = collector.spans.find(({ name }) => name === "create job")!.traceId;
  for (const [i, { service }] of running.entries()) {
    const wanted = service === "reporter" ? TRACE : traceOfJob;
    expect([service, logs[i]!.includes(`"trace_id":"${wanted}"`)]).toEqual([service, true]);
  }
});
