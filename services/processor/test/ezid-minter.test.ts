import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createEgress, type Egress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { ezidMinter } from "../src/minter/ezid-minter.ts";
import type { Minter } from "../src/minter/minter.ts";
import { Laboratory, PROFILE, profilesOf } from "./support/deposit.ts";
import { type EzidServer, ezidServer, parseEzidBody, TROUBLES } from "@sluice/testkit";
import { closedAfterTest } from "./support/closed-after-test.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";
import { changesOf } from "./support/stored-version.ts";

const HELLO = { files: { "hello.txt": "hello" } };

let egress: Egress;
let ezid: EzidServer;
let waited: number[];
beforeEach(async () => {
  egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, totalTimeoutMs: 300 });
  ezid = await closedAfterTest(ezidServer());
  waited = [];
});
afterEach(() => egress.close());

const minterOf = (password = "secret", base = ezid.url): Minter =>
  ezidMinter({
    url: { kind: "ezid", base, shoulder: { naan: "99999", shoulder: "fk4" } },
    egress,
    account: { user: "apitest", password },
    target: "https://merritt.example.org",
    wait: (ms) => Promise.resolve(void waited.push(ms)),
  });

const laboratoryWith = (minter = minterOf(), profile = PROFILE): Promise<Laboratory> =>
  Laboratory.open({ minter, profiles: profilesOf(profile) });

describe("an ARK of EZID", () => {
  test("is reserved first, and public with its target when its object is stored", async () => {
    const profile = `${PROFILE}Context: CDL\nEZID_co-owner: merritt\nObjectMinterURL: ${ezid.url}/shoulder/ark:/99999/fk4\n`;
    const laboratory = await laboratoryWith(minterOf(), profile);
    const metadata = { erc_who: "Ann: 100%", erc_what: "a\nb", erc_when: undefined, erc_where: undefined };
    const job = laboratory.job({ ...HELLO, metadata, identifiers: { local_id: ["shelf 7"] } });
    const { primary_id: ark } = changesOf(await job.run()).identifiers!;
    expect(ezid.ledger).toEqual([`created ${ark} reserved`, `updated ${ark} public`]);
    expect(Object.fromEntries(ezid.identifiers.get(ark!)!)).toEqual({
      erc: `who: Ann: 100%\nwhat: a b\nwhen: (:unas)\nwhere: ${ark}; shelf 7\n`,
      "mrt.creator": "CDL",
      "mrt.job": job.job.uuid,
      _owner: "merritt",
      _status: "public",
      _export: "yes",
      _target: `https://merritt.example.org/m/${encodeURIComponent(encodeURIComponent(ark!))}`,
    });
    expect(parseEzidBody(ezid.received[0]!.body).get("_status")).toBe("reserved");
  });

  test("stays reserved for objects of the administration, and its target stays when the depositor wants it", async () => {
    const laboratory = await laboratoryWith(minterOf(), PROFILE.replace("MRT-content", "MRT-class"));
    const configuration = { retainTargetURL: "true" };
    const { primary_id: ark } = changesOf(await laboratory.job({ ...HELLO, configuration }).run()).identifiers!;
    expect(ezid.identifiers.get(ark!)!.get("_status")).toBe("reserved");
    expect(ezid.identifiers.get(ark!)!.has("_target")).toBe(false);
  });

  test("that was given is told where it leads if it is under our shoulder; what EZID thinks of it fails nothing", async () => {
    const laboratory = await laboratoryWith();
    const given = (ark: string, number: number) =>
      laboratory.job({ ...HELLO, identifiers: { primary_id: ark }, number }).run();
    expect(await given("ark:/12345/x1", 1)).toMatchObject({ kind: "done" });
    expect(ezid.received).toEqual([]);
    ezid.before.push(TROUBLES.error500, TROUBLES.error500);
    expect(await given("ark:/99999/fk4given", 2)).toMatchObject({ kind: "done" });
    expect(ezid.received.map(({ method }) => method)).toEqual(["POST", "PUT"]);
  });
});

describe("when EZID", () => {
  test("is down, connections are tried three times five seconds apart, and the job later", async () => {
    const laboratory = await laboratoryWith(minterOf("secret", "http://127.0.0.1:1"));
    expect(await laboratory.job(HELLO).run()).toMatchObject({ kind: "retry", code: "MINT_FAILED" });
    expect(waited).toEqual([5_000, 5_000]);
    expect(validateRoot(laboratory.store).objects.size).toBe(0);
  });

  test("is silent, the job is tried later with the same name", async () => {
    const laboratory = await laboratoryWith();
    const job = laboratory.job(HELLO);
    ezid.before.push(TROUBLES.silence, TROUBLES.silence, TROUBLES.silence);
    expect(await job.run()).toMatchObject({ kind: "retry", code: "MINT_FAILED" });
    const { primary_id: ark } = changesOf(await job.run()).identifiers!;
    expect(job.records).toHaveLength(1);
    expect(ezid.ledger).toEqual([`created ${ark} reserved`, `updated ${ark} public`]);
  });

  test.each(["error500", "hangUp", "silence"] as const)(
    "creates the name and then fails (%s), the next try finds it to be ours",
    async (trouble) => {
      const laboratory = await laboratoryWith();
      ezid.after.push(TROUBLES[trouble]);
      const { primary_id: ark } = changesOf(await laboratory.job(HELLO).run()).identifiers!;
      expect(ezid.ledger).toEqual([`created ${ark} reserved`, `updated ${ark} public`]);
    },
  );

  test("fails three times, 15 seconds apart, the job is tried later", async () => {
    const laboratory = await laboratoryWith();
    ezid.before.push(TROUBLES.error500, TROUBLES.error500, TROUBLES.error500);
    expect(await laboratory.job(HELLO).run()).toMatchObject({ kind: "retry", code: "MINT_FAILED" });
    expect(waited).toEqual([15_000, 15_000]);
  });

  test("fails to update, it is told once more in another way", async () => {
    const laboratory = await laboratoryWith();
    const job = laboratory.job(HELLO);
    ezid.after.push((response) => {
      ezid.before.push(TROUBLES.error500);
      response.writeHead(201).end(`success: ${job.job.identifiers!.primary_id}`);
    });
    const { primary_id: ark } = changesOf(await job.run()).identifiers!;
    expect(ezid.received.map(({ method }) => method)).toEqual(["PUT", "POST", "PUT"]);
    expect(ezid.ledger.at(-1)).toBe(`updated ${ark} public`);
  });

  test("does not know us, the job fails: trying again would not help", async () => {
    const laboratory = await laboratoryWith(minterOf("wrong"));
    const attempt = await laboratory.job(HELLO).run();
    expect(attempt).toMatchObject({ kind: "fail", code: "MINT_FAILED", message: expect.stringContaining("401") });
    expect(JSON.stringify(attempt)).not.toContain("wrong");
  });

  test.each([
    ["another ARK", "ark:/99999/fk4other"],
    ["no ARK", "doi:10.5072/x"],
  ])("speaks of %s, the job fails and nothing is stored", async (_what, alias) => {
    ezid.alias = () => alias;
    const laboratory = await laboratoryWith();
    expect(await laboratory.job(HELLO).run()).toMatchObject({ kind: "fail", code: "MINT_FAILED" });
    expect(validateRoot(laboratory.store).objects.size).toBe(0);
  });

  test("has the name for somebody else, another one is chosen; after three the job fails", async () => {
    const taken = ["ark:/99999/fk4a", "ark:/99999/fk4b", "ark:/99999/fk4c"];
    for (const ark of taken) ezid.identifiers.set(ark, new Map([["mrt.job", "jid-another"]]));
    const proposing = (names: string[]): Minter => ({
      ...minterOf(),
      propose: () => ({ ok: true, ark: names.shift() ?? "ark:/99999/fk4free" }),
    });
    const lucky = await laboratoryWith(proposing(taken.slice(0, 2)));
    const attempt = await lucky.job(HELLO).run();
    expect(changesOf(attempt).identifiers!.primary_id).toBe("ark:/99999/fk4free");
    const unlucky = await laboratoryWith(proposing([...taken]));
    expect(await unlucky.job(HELLO).run()).toMatchObject({ kind: "fail", code: "MINT_FAILED" });
    for (const ark of taken) expect([...ezid.identifiers.get(ark)!]).toEqual([["mrt.job", "jid-another"]]);
  });

  test("is another one than the configuration names, no password is sent there", async () => {
    const profile = `${PROFILE}ObjectMinterURL: http://127.0.0.1:9/shoulder/ark:/99999/fk4\n`;
    const laboratory = await laboratoryWith(minterOf(), profile);
    expect(await laboratory.job(HELLO).run()).toMatchObject({ kind: "fail", code: "MINT_FAILED" });
    expect(ezid.received).toEqual([]);
  });
});

test("killed at any step, a job has one name, created once", async () => {
  const rehearsal = await laboratoryWith();
  await rehearsal.job(HELLO).run();
  const steps = [...rehearsal.steps];
  expect(steps).toEqual(expect.arrayContaining(["afterIdentify", "afterMint", "afterEffect", "afterPublish"]));
  for (const [index, step] of steps.entries()) {
    ezid.ledger.length = 0;
    const laboratory = await laboratoryWith();
    // EZID knows the first job of the rehearsal.
    const job = laboratory.job({ ...HELLO, number: index + 2 });
    expect(await job.run(index + 1)).toEqual({ kind: "crash", at: step });
    const { primary_id: ark } = changesOf(await job.run()).identifiers!;
    const publications = step === "afterPublish" ? 2 : 1; // the same words again
    expect(ezid.ledger).toEqual([
      `created ${ark} reserved`,
      ...Array.from({ length: publications }, () => `updated ${ark} public`),
    ]);
    expect([...validateRoot(laboratory.store).objects.keys()]).toEqual([ark]);
  }
});
