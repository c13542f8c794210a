import { describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { type LocalIdAnswer, openInventory } from "@sluice/inventory";
import type { LocalIdIndex } from "../src/parts.ts";
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

test("the real inventory finds what it has recorded, and tells owners apart", async () => {
  const laboratory = await Laboratory.open();
  const inventory = await openInventory({ kind: "sqlite", file: join(laboratory.root, "inventory.db") });
  try {
    const localIds: LocalIdIndex = { find: (owner, ids) => inventory.findLocalIds(owner, ids) };
    const record = (ark: string, owner: string, localId: string) =>
      inventory.record({
        ark,
        number: 1,
        created: "2026-01-01T00:00:00Z",
        note: "",
        manifestUrl: "file:///x",
        files: [],
        owner,
        collections: ["ark:/99999/fk4collection"],
        mom: { type: "MRT-curatorial", role: "MRT-content", localIds: [localId], primaryId: ark },
        erc: { primaryId: ark, localIds: [localId] },
        ingest: { job: `jid-${ark}` },
      });
    expect(await record(KNOWN, OWNER, "shelf 7")).toEqual({ kind: "recorded" });
    expect(await record("ark:/99999/fk4theirs", "ark:/99999/fk4others", "box 3")).toEqual({ kind: "recorded" });
    const found = await (await Laboratory.open({ localIds })).job(NAMED).run();
    expect(changesOf(found).identifiers).toMatchObject({ primary_id: KNOWN, primary_source: "found" });
    await record("ark:/99999/fk4second", OWNER, "box 3");
    const conflict = await (await Laboratory.open({ localIds })).job(NAMED).run();
    expect(conflict).toMatchObject({ kind: "fail", code: "IDENTIFIER_CONFLICT" });
  } finally {
    await inventory.close();
  }
});
