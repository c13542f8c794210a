/** One's own deposits for later from a terminal, with real tokens at a real intake, job-api and runner. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import { PROFILE } from "../../../tests/support/fleet.ts";
import { type ScheduleFleet, startScheduleFleet } from "../../../tests/support/schedules.ts";
import { type Played, sluice, type Stage } from "./support.ts";

let house: ScheduleFleet;
let ada: (line: string, stage?: Stage) => Promise<Played>;
let bob: typeof ada;
let vera: typeof ada;
beforeAll(async () => {
  const { connect } = await testZooKeeper();
  house = await startScheduleFleet({ zookeeper: connect });
  const as = async (about: Parameters<typeof house.tokens.give>[0]): Promise<typeof ada> => {
    const token = await house.tokens.give(about);
    const env = { SLUICE_INTAKE_URL: house.intake.url, SLUICE_JOBS_URL: house.jobApi.url, SLUICE_TOKEN: token };
    return (line, stage = {}) => sluice(line, { ...stage, env });
  };
  ada = await as({ name: "Ada" });
  bob = await as({ name: "Bob" });
  vera = await as({ name: "Vera", role: "viewer", collections: ["*"] });
});
afterAll(() => house.stop());

const URL = "https://content.example/a.checkm?X-Amz-Signature=5ecret";

async function scheduled(more: string): Promise<string> {
  const made = await ada(`submit ${URL} --profile ${PROFILE} --notification depositor@example.org ${more} -o json`);
  expect([made.code, made.err]).toEqual([0, ""]);
  return String((JSON.parse(made.out) as { readonly job: number }).job);
}

test("a deposit for later is listed, shown and cancelled by who made it, and by nobody else", async () => {
  expect((await ada("deposits list")).err).toContain("You have no deposits for later.");
  const id = await scheduled(`--first-run 2038-01-02T03:04:05Z --repeat "FINISHED, +1 DAY"`);
  const table = (await ada("deposits list")).out.split("\n");
  expect(table[0]).toMatch(/^ *ID +STATE +NEXT RUN +LAST RUN +EXIT +PROFILE +SUBMITS$/);
  expect(table[1]).toMatch(new RegExp(`^ *${id} +QUEUED +2038-01-02.* +- +${PROFILE} +https://content`));
  expect((await ada("deposits list -o name")).out).toBe(`${id}\n`);
  const shown = await ada(`deposits show ${id}`);
  expect(shown.out).toContain("https://content.example/a.checkm");
  expect((await bob("deposits list -o name")).out).toBe("");
  for (const line of [`deposits show ${id}`, `deposits cancel ${id} --yes`]) expect((await bob(line)).code).toBe(3);
  expect((await ada("deposits show x")).code).toBe(64);
  const declined = await ada(`deposits cancel ${id}`, { answers: ["no"] });
  expect([declined.code === 0, declined.questions.join()]).toEqual([false, expect.stringContaining(id)]);
  expect((await ada(`deposits cancel ${id}`)).code).not.toBe(0);
  expect((await ada("deposits list -o name")).out).toBe(`${id}\n`);
  expect((await ada(`deposits cancel ${id} --yes`)).out).toContain(`${id}: it is cancelled`);
  expect((await ada("deposits list -o name")).out).toBe("");
  expect((await ada(`deposits cancel ${id} --yes`)).code).toBe(3);
});

test("how its last run ended is shown; queries of URLs and mail addresses are shown to nobody", async () => {
  const id = await scheduled(`--repeat "FINISHED, +1 DAY"`);
  const shown = await waitFor(async () => {
    const { out } = await ada(`deposits show ${id}`);
    return out.includes('"exit": 200') && out;
  });
  expect(shown).toContain('"runs": 1');
  expect((await ada("deposits list -o wide")).out).toMatch(/ 200 .* bid0000000001\n/);
  const looks = [
    await ada("deposits list -o json"),
    await ada(`deposits show ${id} -o yaml`),
    await vera(`q show ${id} --tenant system -o json`),
    await vera(`q show ${id} --tenant system`),
    await vera("q list --tenant system -o json"),
    await vera("q runs --tenant system -o json"),
    await vera(`q result ${id} --tenant system`),
  ];
  for (const { code, out, err } of [{ code: 0, out: shown, err: "" }, ...looks]) {
    expect([code, err]).toEqual([0, ""]);
    expect(out).not.toBe("");
    expect(out).not.toContain("5ecret");
    expect(out).not.toContain("depositor@example.org");
  }
});
