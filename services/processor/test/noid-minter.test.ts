import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { hasValidCheckCharacter, type Profile } from "@sluice/ingest-formats";
import { noidMinter, parseShoulder } from "../src/minter/noid-minter.ts";

const fallback = { naan: "99999", shoulder: "fk4" };
const profile = (objectMinterUrl?: string): Profile =>
  (objectMinterUrl === undefined ? {} : { objectMinterUrl }) as Profile;

describe("the local minter", () => {
  test("gives names that differ, each with its check character", async () => {
    const minter = noidMinter(fallback, randomBytes);
    const minted = await Promise.all(Array.from({ length: 500 }, () => minter.mint(profile())));
    const arks = minted.map((each) => (each.kind === "minted" ? each.ark : ""));
    expect(new Set(arks).size).toBe(500);
    expect(arks.every((ark) => ark.startsWith("ark:/99999/fk4") && hasValidCheckCharacter(ark))).toBe(true);
  });

  test("uses the shoulder of the profile's minter", async () => {
    const minter = noidMinter(fallback, randomBytes);
    const minted = await minter.mint(profile("http://ezid.example.org/shoulder/ark:/12345/q7"));
    expect(minted).toMatchObject({ ark: expect.stringMatching(/^ark:\/12345\/q7/) });
  });

  test("is a function of its random bytes", async () => {
    const minter = noidMinter(fallback, (size) => Buffer.alloc(size, 1));
    expect(await minter.mint(profile())).toEqual(await minter.mint(profile()));
  });
});

test("a shoulder is a NAAN and a prefix", () => {
  expect(parseShoulder("99999/fk4")).toEqual(fallback);
  expect(parseShoulder("ark:/99999/fk4")).toEqual(fallback);
  expect(parseShoulder("99999")).toBeNull();
  expect(parseShoulder("99999/fk4/x")).toBeNull();
});
