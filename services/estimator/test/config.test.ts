import { expect, test } from "@jest/globals";
import { readConfig } from "@sluice/stage-runtime";
import { ESTIMATOR_RELATIONS, estimatorConfig } from "../src/config.ts";

const read = (env: Record<string, string>) =>
  readConfig(estimatorConfig, { ZOOKEEPER_CONNECT: "127.0.0.1:2181", ...env }, { relations: ESTIMATOR_RELATIONS });

test("needs nothing but ZooKeeper", () => {
  expect(read({})).toMatchObject({
    ok: true,
    config: { HEAD_PER_HOST: 4, HEAD_PER_PROCESS: 64, STAGE_CONCURRENCY: 16, ALLOW_LOOPBACK: false },
  });
});

test("lists everything that is wrong at once", () => {
  const result = read({ HEAD_PER_HOST: "65", LARGE_JOB_BYTES: "many", ALLOW_LOOPBACK: "perhaps" });
  expect(result).toMatchObject({ ok: false });
  const text = JSON.stringify(result);
  for (const name of ["HEAD_PER_HOST: must not be above HEAD_PER_PROCESS", "LARGE_JOB_BYTES", "ALLOW_LOOPBACK"])
    expect(text).toContain(name);
});
