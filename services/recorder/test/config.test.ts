import { inspect } from "node:util";
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
    problems: ["INVENTORY_URL: must be sqlite:FILE or mysql://USER:PASSWORD@HOST:PORT/DATABASE"],
  });
});

test("a password in the database's URL is in no printed setting and in no message", () => {
  const right = read({ INVENTORY_URL: "mysql://sluice:s3cret@db.example.org/inventory" });
  expect(right).toMatchObject({ ok: true, config: { INVENTORY_URL: { kind: "mysql", user: "sluice", port: 3306 } } });
  const wrong = read({ INVENTORY_URL: "mysql://sluice:s3cret@db.example.org" });
  expect(wrong).toMatchObject({ ok: false });
  for (const said of [right, wrong]) expect(`${JSON.stringify(said)} ${inspect(said)}`).not.toContain("s3cret");
});
