import { expect, test } from "@jest/globals";
import { readConfig } from "@sluice/stage-runtime";
import { processorConfig, PROCESSOR_RELATIONS } from "../src/config.ts";

const read = (env: Record<string, string>) =>
  readConfig(processorConfig, { ZOOKEEPER_CONNECT: "127.0.0.1:2181", ...env }, { relations: PROCESSOR_RELATIONS });

test("a processor needs to be told nothing but its ZooKeeper", () => {
  expect(read({})).toMatchObject({
    ok: true,
    config: {
      STAGE_CONCURRENCY: 2,
      STORAGE_URL: { kind: "ocfl", folder: "./data/store" },
      MINT_URL: { kind: "noid", shoulder: { naan: "99999", shoulder: "fk4" } },
    },
  });
});

test("a store or minter that nobody knows is a wrong configuration, and both are named at once", () => {
  const result = read({ STORAGE_URL: "s3://bucket", MINT_URL: "noid:fk4" });
  expect(result).toMatchObject({
    ok: false,
    problems: [
      expect.stringContaining("STORAGE_URL: must be ocfl:FOLDER"),
      expect.stringContaining("MINT_URL: must be"),
    ],
  });
});

test("an EZID service needs its account, which is never in its URL", () => {
  const MINT_URL = "https://ezid.example.org/shoulder/ark:/99999/fk4";
  expect(read({ MINT_URL })).toMatchObject({ ok: false, problems: [expect.stringContaining("EZID_CREDENTIALS_FILE")] });
  expect(read({ MINT_URL, EZID_CREDENTIALS: "apitest:a:b" })).toMatchObject({
    config: {
      MINT_URL: { kind: "ezid", base: "https://ezid.example.org", shoulder: { naan: "99999", shoulder: "fk4" } },
      EZID_CREDENTIALS: { user: "apitest", password: "a:b" },
    },
  });
  expect(read({ MINT_URL: "https://a:b@ezid.example.org/shoulder/ark:/99999/fk4" })).toMatchObject({ ok: false });
});

test("a storage service needs an address to fetch from", () => {
  const STORAGE_URL = "merritt+http://store.example.org:35121";
  expect(read({ STORAGE_URL })).toMatchObject({ ok: false, problems: [expect.stringContaining("WORKING_ACCESS_URL")] });
  expect(read({ STORAGE_URL, WORKING_ACCESS_URL: "http://ingest.example.org/queue" })).toMatchObject({ ok: true });
});

test.each(["http://127.0.0.1:8085", "http://ingest:8085/queue", "https://[::1]/"])(
  "the working folder may be found at %s: hosts inside a cluster have no domain",
  (WORKING_ACCESS_URL) => {
    expect(read({ WORKING_ACCESS_URL, MINT_TARGET_URL: WORKING_ACCESS_URL })).toMatchObject({ ok: true });
  },
);

test.each(["ftp://ingest.example.org", "ingest:8085", "/queue"])("the working folder is not found at %s", (address) => {
  expect(read({ WORKING_ACCESS_URL: address })).toMatchObject({ ok: false });
});
