/** Goal: what is done within a span arrives at a collector as one trace, and nothing secret with it. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startCollector, type Collector } from "@sluice/testkit";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { request } from "undici";
import {
  carryContext,
  currentTraceparent,
  parseTraceparent,
  startRecorder,
  traced,
  traceFields,
} from "../src/index.ts";

let collector: Collector;
let host: Server;
let asked: IncomingHttpHeaders = {};
let hostUrl: string;

beforeAll(async () => {
  collector = await startCollector();
  host = createServer((req, res) => {
    asked = req.headers;
    res.writeHead(req.url?.startsWith("/gone") === true ? 404 : 200).end();
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  hostUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await collector.close();
  host.closeAllConnections();
  await new Promise((resolve) => host.close(resolve));
});

test("without a recorder a trace is carried along, for the logs", async () => {
  carryContext();
  const parent = parseTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
  expect(traceFields()).toEqual({});
  await traced({ name: "work", kind: "consumer", parent }, async () => {
    await Promise.resolve();
    expect(traceFields()).toMatchObject({ trace_id: parent!.traceId });
  });
  expect(currentTraceparent()).toBeNull();
});

test("spans, their requests and their failures arrive; the secret part of an address does not", async () => {
  const recorder = await startRecorder({
    endpoint: `${collector.url}/`,
    service: "tester",
    version: "1",
    worker: "w1",
    ratio: 1,
  });
  const ids = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", traceFlags: 1 };
  await traced({ name: "work", kind: "consumer", parent: null, ids, attributes: { n: 1 } }, async () => {
    await (await request(`${hostUrl}/file?X-Signature=hush`)).body.dump();
    expect(parseTraceparent(asked["traceparent"])?.traceId).toBe(ids.traceId);
    await (await request(`${hostUrl}/gone`)).body.dump();
  });
  await traced({ name: "broken", kind: "internal", parent: null }, () => Promise.reject(new Error("no"))).catch(
    () => undefined,
  );
  const unrecorded = { traceId: "0af7651916cd43dd8448eb211c80319d", spanId: "b7ad6b7169203332", traceFlags: 0 };
  await traced({ name: "unrecorded", kind: "internal", parent: null, ids: unrecorded }, () => Promise.resolve());
  await recorder.stop();

  const named = (name: string) => collector.spans.filter((span) => span.name === name);
  expect(named("work")).toMatchObject([
    {
      traceId: ids.traceId,
      spanId: ids.spanId,
      service: "tester",
      parentSpanId: "",
      failed: false,
      attributes: { n: 1 },
    },
  ]);
  expect(named("GET")).toMatchObject([
    { parentSpanId: ids.spanId, attributes: { "url.full": `${hostUrl}/file`, "http.response.status_code": 200 } },
    { parentSpanId: ids.spanId, failed: true, attributes: { "http.response.status_code": 404 } },
  ]);
  expect(parseTraceparent(asked["traceparent"])?.spanId).toBe(named("GET")[1]?.spanId);
  expect(named("unrecorded")).toEqual([]);
  expect(named("broken")).toMatchObject([{ failed: true }]);
  expect(JSON.stringify(collector.spans)).not.toContain("hush");
});

test("a collector that is away costs nobody anything", async () => {
  await collector.close();
  const recorder = await startRecorder({ endpoint: collector.url, service: "t", version: "1", worker: "w", ratio: 1 });
  expect(await traced({ name: "work", kind: "internal", parent: null }, () => Promise.resolve("done"))).toBe("done");
  await recorder.stop();
});
