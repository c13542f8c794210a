/** Goal: an outage of ZooKeeper costs depositors nothing. What was answered is there afterwards, once and in order. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { freePort } from "@sluice/local-parts";
import { batchUuidFromKey } from "@sluice/queue-core";
import { ownZooKeeper, startFaultProxy, testZooKeeper, waitFor } from "@sluice/testkit";
import { makeSite, startIntake } from "./fleet-support.ts";
import { expectExactlyOnce, numberOf, type Sent, submit } from "./outage-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const SUBMISSIONS = 200;
const sent = (count: number): readonly Sent[] =>
  Array.from({ length: count }, (_, i) => ({ key: `key-${i}`, text: i % 8 === 0 ? `content ${i}` : null }));

const readyz = async (port: number): Promise<string> => {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz?verbose`);
  return `${answer.status} ${await answer.text()}`;
};

test("200 submissions while ZooKeeper is dead, uploads among them, are all there afterwards, once and in order", async () => {
  const zookeeper = await ownZooKeeper();
  cleanups.add(() => zookeeper.stop());
  const site = await makeSite(cleanups, zookeeper, (_req, res) => void res.end());
  const metrics = await freePort();
  const settings = await site.settings({ ZK_SESSION_TIMEOUT_MS: "4000", METRICS_PORT: String(metrics) });
  const url = await startIntake(cleanups, settings);
  await zookeeper.kill("SIGKILL");

  const answered: { id: string; text: string | null }[] = [];
  for (const each of sent(SUBMISSIONS)) {
    const answer = await submit(url, each);
    expect(answer?.status).toBe(202);
    answered.push({ id: answer!.id, text: each.text });
  }
  expect(await readyz(metrics)).toMatch(/^200 .*journal ok: 200 submissions wait/s);
  await waitFor(async () => (await metricOf(metrics, "sluice_journal_records")) === SUBMISSIONS);

  await zookeeper.restart();
  const numbers = await expectExactlyOnce({ site, zookeeper, url }, answered);
  expect(numbers).toEqual([...numbers].sort());
  await waitFor(async () => (await metricOf(metrics, "sluice_journal_ingested_total")) === SUBMISSIONS);
  expect(await metricOf(metrics, "sluice_journal_records")).toBe(0);
  const direct = await submit(url, { key: "after", text: null });
  expect(direct?.status).toBe(202);
});

async function metricOf(port: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

/** An intake that has never seen ZooKeeper, and one that has. */
async function severed(more: Readonly<Record<string, string>> = {}) {
  const zookeeper = await testZooKeeper();
  const site = await makeSite(cleanups, zookeeper, (_req, res) => void res.end());
  const proxy = await startFaultProxy(zookeeper.connect);
  cleanups.add(() => proxy.close());
  await proxy.setMode("refuse");
  const metrics = await freePort();
  const settings = await site.settings({
    ZOOKEEPER_CONNECT: proxy.connect,
    ZK_SESSION_TIMEOUT_MS: "4000",
    METRICS_PORT: String(metrics),
    ...more,
  });
  return { zookeeper, site, proxy, metrics, settings };
}

test("an intake that starts without ZooKeeper is ready below the bound, and not ready at it", async () => {
  const { proxy, metrics, settings } = await severed({ JOURNAL_MAX_RECORDS: "3" });
  const url = await startIntake(cleanups, settings, false);
  await waitFor(async () => (await readyz(metrics)).startsWith("200"), { what: "ready without ZooKeeper" });
  const statuses = [];
  for (const each of sent(4)) statuses.push((await submit(url, each))?.status);
  expect(statuses).toEqual([202, 202, 202, 503]);
  expect(await readyz(metrics)).toMatch(/^503 .*journal failed: 3 submissions wait, and there is no room for more/s);
  await proxy.setMode("pass");
  await waitFor(async () => (await readyz(metrics)).startsWith("200"), { what: "ready with ZooKeeper" });
  await waitFor(async () => (await submit(url, sent(4)[3]!))?.status === 202, { what: "room again" });
});

test("a submission that the queue cannot take any more is set aside, and those behind it go on", async () => {
  const { zookeeper, site, proxy, metrics, settings } = await severed();
  const url = await startIntake(cleanups, settings, false);
  const other = await startIntake(cleanups, await site.settings());
  const first = await submit(other, { key: "same", text: "first" });
  const late = await submit(url, { key: "same", text: "other content" });
  const behind = await submit(url, { key: "behind", text: "behind" });
  expect([first?.status, late?.status, behind?.status]).toEqual([202, 202, 202]);
  await proxy.setMode("pass");
  await numberOf(url, behind!.id);

  const uuid = batchUuidFromKey("anonymous", "same");
  const refusals = await (await fetch(`${url}/v1/batches/${uuid}/refusals`)).json();
  expect(refusals).toEqual({
    refusals: [
      { id: uuid, why: expect.stringContaining("same key with other content"), refused_at: expect.anything() },
    ],
  });
  const kept = JSON.parse(await readFile(join(settings.env["JOURNAL_DIR"]!, "refused", "1.json"), "utf8")) as {
    files: string;
  };
  expect(await readFile(join(site.root, "queue", kept.files, "uploads", "object.txt"), "utf8")).toBe("other content");
  await waitFor(async () => (await metricOf(metrics, "sluice_journal_refused_total")) === 1);
  await expectExactlyOnce({ site, zookeeper, url }, [
    { id: first!.id, text: "first" },
    { id: behind!.id, text: "behind" },
  ]);
});

test("a second process on the same journal is refused, and says whose it is", async () => {
  const { settings } = await severed();
  await startIntake(cleanups, settings, false);
  await expect(startIntake(cleanups, settings, false)).rejects.toThrow(`"pid":${process.pid}`);
});
