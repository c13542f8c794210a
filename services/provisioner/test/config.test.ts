import { expect, test } from "@jest/globals";
import { readConfig } from "@sluice/stage-runtime";
import { PROVISIONER_RELATIONS, provisionerConfig } from "../src/config.ts";

const read = (env: Record<string, string>) =>
  readConfig(provisionerConfig, { ZOOKEEPER_CONNECT: "127.0.0.1:2181", ...env }, { relations: PROVISIONER_RELATIONS });

test("needs nothing but ZooKeeper", () => {
  expect(read({})).toMatchObject({ ok: true, config: { SPACE_LIMIT: 0.8, SPACE_LIMIT_UNKNOWN: 0.7 } });
});

test("does not let jobs of unknown size go further than those of known size", () => {
  expect(read({ SPACE_LIMIT: "0.5" })).toEqual({
    ok: false,
    problems: ["SPACE_LIMIT_UNKNOWN: must not be above SPACE_LIMIT"],
  });
  expect(read({ SPACE_LIMIT: "80" })).toMatchObject({ ok: false });
});
