/**
 * Owns shard 0, accepts jobs in its journal, takes them in, does some, says what it was told, and dies at a failpoint:
 * `doomed.mjs CONNECT FOLDER STEP TIMES NAME`.
 */
import { writeSync } from "node:fs";
import { ownShard, prepareQueue, readCommand } from "@sluice/job-queue";
import { connectSession } from "@sluice/zookeeper";
import { journaledAdds, openJobJournals } from "../dist/index.js";

const [connect, folder, doom, times, name] = process.argv.slice(2);
let left = Number(times);
const say = (...words) => writeSync(1, `${words.join(" ")}\n`);

const later = (ms, wake) => {
  const timer = setTimeout(wake, ms);
  return () => clearTimeout(timer);
};
const session = await connectSession({ connect, timeoutMs: 30_000 });
await prepareQueue(session);
const own = async () => {
  const owning = await ownShard(0, { session, apiId: name, later });
  return owning.ok ? owning.owner : own();
};
const owner = await own();
const asked = async (command) => {
  const reply = await owner.ask(command);
  return reply === null ? { kind: "unknown" } : { kind: "reply", reply };
};
const queue = {
  route: (_tenant, command) => asked(command),
  routeShard: (_shard, command) => asked(command),
  shardOf: () => 0,
};

const opened = await openJobJournals({
  folder,
  maxBytes: 10_000_000,
  segmentBytes: 600,
  clock: { nowMs: Date.now },
  log: { badLine: (bad) => say("bad", bad.id), badRecord: ({ record }) => say("bad", record), opened: () => undefined },
  queue,
  blobs: null,
  later,
  failpoint: (step) => {
    if (step === doom && --left === 0) process.kill(process.pid, "SIGKILL");
    return Promise.resolve();
  },
});
if (!opened.ok) throw new Error(opened.problem);
const adds = journaledAdds(queue, opened.journals, null);

async function add(round, n) {
  const payloads = Array.from({ length: 1 + (n % 3) }, (_, k) => `${name}/${round}/${n}/${k}`);
  const { content, status } = await adds.addLines({ tenant: "default", name: "work" }, payloads);
  if (content.kind !== "ids") throw new Error(status.text);
  content.ids.forEach((id, k) => say("accepted", id, payloads[k]));
}

const asker = { tenant: "default", caller: { kind: "worker", worker: name } };
async function work() {
  const reply = await owner.ask(readCommand("GetJobs", { name: "work", numResults: "4" }, asker));
  for (const { view, token } of reply?.content.jobs ?? []) {
    const done = await owner.ask(readCommand("FinishJob", { jobID: String(view.jobID), lease: token }, asker));
    if (done?.status.code === 200) say("finished", view.jobID, JSON.parse(view.data).payload);
  }
}

for (let round = 0; round < 200; round++) {
  await Promise.all([0, 1, 2, 3, 4].map((n) => add(round, n)));
  await work();
}
