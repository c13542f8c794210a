import { describe, expect, test } from "@jest/globals";
import { hasValidCheckCharacter, type Profile } from "@sluice/ingest-formats";
import { noidMinter } from "../src/minter/noid-minter.ts";
import { parseShoulder } from "../src/minter/propose.ts";

const fallback = { naan: "99999", shoulder: "fk4" };
const profile = (objectMinterUrl?: string): Profile =>
  (objectMinterUrl === undefined ? {} : { objectMinterUrl }) as Profile;

const WISH = { job: "jid-1", taken: 0 };

describe("the local minter", () => {
  test("gives names that differ, each with its check character", () => {
    const minter = noidMinter(fallback);
    const proposed = Array.from({ length: 500 }, (_, i) =>
      minter.propose(profile(), { job: `jid-${i % 250}`, taken: i < 250 ? 0 : 1 }),
    );
    const arks = proposed.map((each) => (each.ok ? each.ark : ""));
    expect(new Set(arks).size).toBe(500);
    expect(arks.every((ark) => ark.startsWith("ark:/99999/fk4") && hasValidCheckCharacter(ark))).toBe(true);
  });

  test("uses the shoulder of the profile's minter", () => {
    const minter = noidMinter(fallback);
    const proposed = minter.propose(profile("http://ezid.example.org/shoulder/ark:/12345/q7"), WISH);
    expect(proposed).toMatchObject({ ark: expect.stringMatching(/^ark:\/12345\/q7/) });
  });

  test("gives a job that is made again the name that it had", () => {
    expect(noidMinter(fallback).propose(profile(), WISH)).toEqual(noidMinter(fallback).propose(profile(), { ...WISH }));
  });
});

test("a shoulder is a NAAN and a prefix", () => {
  expect(parseShoulder("99999/fk4")).toEqual(fallback);
  expect(parseShoulder("ark:/99999/fk4")).toEqual(fallback);
  expect(parseShoulder("99999")).toBeNull();
  expect(parseShoulder("99999/fk4/x")).toBeNull();
});
