import { expect, test } from "@jest/globals";
import { readConfig } from "@sluice/stage-runtime";
import { Registry } from "prom-client";
import { downloaderConfig } from "../src/config.ts";
import { countFiles } from "../src/metrics.ts";

test("needs nothing but ZooKeeper", () => {
  expect(readConfig(downloaderConfig, { ZOOKEEPER_CONNECT: "127.0.0.1:2181" })).toMatchObject({
    ok: true,
    config: { FILES_AT_ONCE: 4, STAGE_CONCURRENCY: 4, ALLOW_LOOPBACK: false },
  });
});

test("lists everything that is wrong at once", () => {
  const result = readConfig(downloaderConfig, { FILES_AT_ONCE: "0", FILE_MAX_BYTES: "-1" });
  const text = JSON.stringify(result);
  for (const name of ["ZOOKEEPER_CONNECT", "FILES_AT_ONCE", "FILE_MAX_BYTES"]) expect(text).toContain(name);
});

test("counts files by outcome, and the bytes of those that came", async () => {
  const registry = new Registry();
  const count = countFiles(registry);
  count({ kind: "got", bytes: 12 });
  count({ kind: "disk-full", message: "full" });
  const text = await registry.metrics();
  expect(text).toContain('sluice_download_files_total{outcome="got"} 1');
  expect(text).toContain('sluice_download_files_total{outcome="disk-full"} 1');
  expect(text).toContain("sluice_download_bytes_total 12");
});
