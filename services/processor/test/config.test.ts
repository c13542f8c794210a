import { expect, test } from "@jest/globals";
import { readConfig } from "@sluice/stage-runtime";
import { processorConfig } from "../src/config.ts";

const read = (env: Record<string, string>) =>
  readConfig(processorConfig, { ZOOKEEPER_CONNECT: "127.0.0.1:2181", ...env });

test("a processor needs to be told nothing but its ZooKeeper", () => {
  expect(read({})).toMatchObject({
    ok: true,
    config: {
      STAGE_CONCURRENCY: 2,
      STORAGE_URL: { kind: "ocfl", folder: "./data/store" },
      MINT_SHOULDER: { naan: "99999", shoulder: "fk4" },
    },
  });
});

test("a store or shoulder that nobody knows is a wrong configuration, and both are named at once", () => {
  const result = read({ STORAGE_URL: "s3://bucket", MINT_SHOULDER: "fk4" });
  expect(result).toMatchObject({
    ok: false,
    problems: ["STORAGE_URL: must be ocfl:FOLDER", "MINT_SHOULDER: must be NAAN/SHOULDER, as in 99999/fk4"],
  });
});
