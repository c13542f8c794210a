import { expect, test } from "@jest/globals";
import { readConfig } from "@sluice/stage-runtime";
import { recorderConfig } from "../src/config.ts";

const read = (env: Record<string, string>) =>
  readConfig(recorderConfig, { ZOOKEEPER_CONNECT: "127.0.0.1:2181", ...env });

test("a recorder needs to be told nothing but its ZooKeeper", () => {
  expect(read({})).toMatchObject({
    ok: true,
    config: {
      STAGE_CONCURRENCY: 8,
      INVENTORY_URL: { kind: "sqlite", file: "./data/inventory.db" },
      STORAGE_URL: { kind: "ocfl", folder: "./data/store" },
    },
  });
  expect(read({ INVENTORY_URL: "sqlite:///srv/inventory.db" })).toMatchObject({
    config: { INVENTORY_URL: { kind: "sqlite", file: "/srv/inventory.db" } },
  });
});

test("a database that nobody knows is a wrong configuration", () => {
  expect(read({ INVENTORY_URL: "oracle://db" })).toEqual({
    ok: false,
    problems: ["INVENTORY_URL: must be sqlite:FILE"],
  });
});
