/** Goal: kill -9 at any step between a submission and its batch loses nothing and does nothing twice. */
import { afterEach, expect, test } from "@jest/globals";
import { startFaultProxy, testZooKeeper } from "@sluice/testkit";
import { makeSite, spawnIntake, untilListening, untilServed } from "./fleet-support.ts";
import { expectExactlyOnce, type Sent, submit } from "./outage-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

/** The first that dies in each case is an upload: it has the most places to be in. */
const SENT: readonly Sent[] = [
  { key: "upload", text: "uploaded" },
  { key: "address", text: null },
  { key: "another-upload", text: "uploaded too" },
];

async function severedSite() {
  const zookeeper = await testZooKeeper();
  const site = await makeSite(cleanups, zookeeper, (_req, res) => void res.end());
  const proxy = await startFaultProxy(zookeeper.connect);
  cleanups.add(() => proxy.close());
  await proxy.setMode("refuse");
  const settings = await site.settings({ ZOOKEEPER_CONNECT: proxy.connect, ZK_SESSION_TIMEOUT_MS: "4000" });
  const killedAt = (step: string) =>
    spawnIntake(cleanups, { ...settings, env: { ...settings.env, FAILPOINTS: `batch-intake.${step}=kill` } });
  /** Another process on the same journal; callers that were not answered ask again. */
  const carryOn = async (): Promise<readonly number[]> => {
    await proxy.setMode("pass");
    // Under another name: its own would be free only when the killed one's session has ended.
    void spawnIntake(cleanups, { ...settings, env: { ...settings.env, WORKER_ID: "intake-after-kill" } });
    await untilServed(settings.url);
    const answers = [];
    for (const each of SENT) answers.push({ ...(await submit(settings.url, each))!, text: each.text });
    expect(answers.map(({ status }) => status)).toEqual(SENT.map(() => 202));
    const numbers = await expectExactlyOnce({ site, zookeeper, url: settings.url }, answers);
    return numbers.map((bid) => Number(bid.slice(3)));
  };
  return { proxy, url: settings.url, killedAt, carryOn };
}

test.each(["beforeJournal", "journalAfterWrite", "journalAfterSync", "afterJournal"])(
  "killed at %s, before the answer: the caller who asks again has one batch",
  async (step) => {
    const { url, killedAt, carryOn } = await severedSite();
    const ended = killedAt(step);
    await untilListening(url);
    expect(await submit(url, SENT[0]!)).toBeNull();
    expect(await ended).toEqual([null, "SIGKILL"]);
    await carryOn();
  },
);

test.each(["ingestBeforeMove", "ingestAfterMove", "ingestAfterCreate", "journalBeforeConsume", "journalAfterConsume"])(
  "killed at %s, while the journal is emptied: the next process goes on, once and in order",
  async (step) => {
    const { proxy, url, killedAt, carryOn } = await severedSite();
    const ended = killedAt(step);
    await untilListening(url);
    for (const each of SENT) expect((await submit(url, each))?.status).toBe(202);
    await proxy.setMode("pass");
    expect(await ended).toEqual([null, "SIGKILL"]);
    const numbers = await carryOn();
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  },
);
