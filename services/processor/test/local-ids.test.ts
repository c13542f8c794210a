import { describe, expect, test } from "@jest/globals";
import type { LocalIdAnswer, LocalIdIndex } from "../src/parts.ts";
import { type Deposit, Laboratory, OWNER } from "./support/deposit.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";
import { changesOf, storedVersion } from "./support/stored-version.ts";

const NAMED: Deposit = { files: { "hello.txt": "hello" }, identifiers: { local_id: ["shelf 7", "box 3"] } };
const KNOWN = "ark:/99999/fk4known";

const answering = (answer: LocalIdAnswer): LocalIdIndex & { readonly asked: string[][] } => {
  const asked: string[][] = [];
  return { asked, find: (owner, ids) => Promise.resolve(asked.push([owner, ...ids])).then(() => answer) };
};

describe("the depositor's own names", () => {
  test("find the object that the inventory has under them", async () => {
    const localIds = answering({ kind: "found", ark: KNOWN });
    const laboratory = await Laboratory.open({ localIds });
    const attempt = await laboratory.job(NAMED).run();
    expect(changesOf(attempt).identifiers).toMatchObject({ primary_id: KNOWN, primary_source: "found" });
    expect(storedVersion(attempt).text("system/mrt-ingest.txt")).toContain(`retrievedIdentifier:\t${KNOWN}`);
    expect(laboratory.minter.minted).toEqual([]);
    expect(localIds.asked).toEqual([[OWNER, "shelf 7", "box 3"]]);
  });

  test("are asked for while their locks are held", async () => {
    const laboratory = await Laboratory.open({
      localIds: {
        find: () => {
          expect(laboratory.locked).toEqual([`localid shelf 7 ${OWNER}`, `localid box 3 ${OWNER}`]);
          return Promise.resolve({ kind: "none" });
        },
      },
    });
    expect(await laboratory.job(NAMED).run()).toMatchObject({ kind: "done" });
  });

  test("agree with the ARK that was given", async () => {
    const laboratory = await Laboratory.open({ localIds: answering({ kind: "found", ark: KNOWN }) });
    const attempt = await laboratory.job({ ...NAMED, identifiers: { primary_id: KNOWN, local_id: ["shelf 7"] } }).run();
    expect(changesOf(attempt).identifiers).toEqual({ primary_id: KNOWN, local_id: ["shelf 7"] });
  });

  test.each<[string, LocalIdAnswer, Partial<Deposit>]>([
    ["they name several objects", { kind: "conflict", message: "ark:/99999/a, ark:/99999/b" }, {}],
    [
      "they name another object than the ARK that was given",
      { kind: "found", ark: KNOWN },
      { identifiers: { primary_id: "ark:/99999/fk4other", local_id: ["shelf 7"] } },
    ],
  ])("fail the job when %s, and nothing is stored", async (_what, answer, change) => {
    const laboratory = await Laboratory.open({ localIds: answering(answer) });
    const attempt = await laboratory.job({ ...NAMED, ...change }).run();
    expect(attempt).toMatchObject({ kind: "fail", code: "IDENTIFIER_CONFLICT" });
    expect(validateRoot(laboratory.store).objects.size).toBe(0);
  });

  test("fail a re-run that would store a second object under a name that is taken meanwhile", async () => {
    let answer: LocalIdAnswer = { kind: "none" };
    const laboratory = await Laboratory.open({ localIds: { find: () => Promise.resolve(answer) } });
    const job = laboratory.job(NAMED);
    const rehearsal = await job.run(2);
    expect(rehearsal).toMatchObject({ kind: "crash" });
    answer = { kind: "found", ark: KNOWN };
    expect(await job.run()).toMatchObject({ kind: "fail", code: "IDENTIFIER_CONFLICT" });
  });

  test("let the job wait when nobody can be asked", async () => {
    const laboratory = await Laboratory.open({ localIds: answering({ kind: "unavailable", message: "down" }) });
    expect(await laboratory.job(NAMED).run()).toMatchObject({ kind: "retry", code: "RECORD_FAILED" });
    expect(laboratory.minter.minted).toEqual([]);
  });
});
