/** An operator's action and somebody else's move of the same job at the same moment: one wins, the other is told who did. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { actOnJob, type JobId, readJob, resumeJob } from "@sluice/queue-core";
import {
  aBatchOfJobs,
  checkInvariants,
  claimJob,
  describeViolation,
  type TestWorker,
  testWorker,
  type TestZooKeeper,
  testZooKeeper,
} from "@sluice/testkit";
import { ADMIN, type JobRequest } from "@sluice/wire";
import { startAdmin, type TestAdmin } from "./support.ts";

const OTTO = { name: "otto", reason: "me first" };
const ROUNDS = 8;
let zk: TestZooKeeper;
let admin: TestAdmin;
let intake: TestWorker;

beforeAll(async () => {
  zk = await testZooKeeper();
  intake = await testWorker(zk.connect, "batch-intake");
  admin = await startAdmin(zk.connect);
});
afterAll(async () => {
  await admin.stop();
  await intake.close();
});

/** Whether the rival's move was carried out. */
type Rival = () => Promise<boolean>;

interface Race {
  readonly asked: JobRequest["action"];
  /** Brings the job to where both may be asked for. */
  readonly rival: (id: JobId) => Promise<Rival>;
  readonly by: () => string;
  /** Both can be carried out, one after the other. */
  readonly both: boolean;
}

const worker = (): Race["rival"] => async (id) => {
  const loaded = await claimJob(intake, "Pending", id);
  return async () => (await intake.jobs.commit(loaded, { kind: "done", changes: {} })).kind === "applied";
};

const otto =
  (first: "hold" | "fail", then: "release" | "delete" | "resume"): Race["rival"] =>
  async (id) => {
    await actOnJob(intake.ctx, OTTO, first, id);
    return async () => {
      const act = then === "resume" ? resumeJob(intake.ctx, OTTO, id) : actOnJob(intake.ctx, OTTO, then, id);
      return (await act).kind === "applied";
    };
  };

const itsWorker = (): string => intake.actor.worker;
const him = (): string => OTTO.name;

const RACES: readonly (readonly [string, Race])[] = [
  ["hold, and a worker that ends the stage", { asked: "hold", rival: worker(), by: itsWorker, both: false }],
  ["fail, and a worker that ends the stage", { asked: "fail", rival: worker(), by: itsWorker, both: true }],
  ["priority, and a worker that ends the stage", { asked: "priority", rival: worker(), by: itsWorker, both: true }],
  ["release, and somebody's release", { asked: "release", rival: otto("hold", "release"), by: him, both: false }],
  ["release, and somebody's delete", { asked: "release", rival: otto("hold", "delete"), by: him, both: false }],
  ["delete, and somebody's release", { asked: "delete", rival: otto("hold", "release"), by: him, both: false }],
  ["resume, and somebody's resume", { asked: "resume", rival: otto("fail", "resume"), by: him, both: false }],
  ["resume, and somebody's delete", { asked: "resume", rival: otto("fail", "delete"), by: him, both: false }],
  ["delete, and somebody's resume", { asked: "delete", rival: otto("fail", "resume"), by: him, both: false }],
];

test.each(RACES)("%s", async (_name, { asked, rival, by, both }) => {
  const { jobs } = await aBatchOfJobs(intake, ROUNDS + 1);
  for (const [round, id] of jobs.slice(0, ROUNDS).entries()) {
    const move = await rival(id);
    const ask = () =>
      admin.as("operator").call(ADMIN.jobAction, {
        params: { id },
        body: { action: asked, reason: "a race", confirm: true, ...(asked === "priority" ? { priority: 77 } : {}) },
      });
    // The last rounds are no race: both orders are met, however fast the machine is.
    const [answer, moved] =
      round === ROUNDS - 1
        ? await move().then(async (done) => [await ask(), done] as const)
        : round === ROUNDS - 2
          ? await ask().then(async (done) => [done, await move()] as const)
          : await Promise.all([ask(), move()]);
    const view = await readJob(intake.session, id);
    if (view.kind !== "found") throw new Error(view.kind);
    if (answer.ok) {
      expect([round, moved && !both]).toEqual([round, false]);
      continue;
    }
    expect(answer).toMatchObject({ kind: "refused", refusal: { status: 409, code: "CONFLICT" } });
    expect([round, moved]).toEqual([round, true]);
    expect(JSON.stringify(answer)).toContain(`last changed by ${by()}: `);
  }
});

test("no invariant was broken meanwhile", () => {
  expect(checkInvariants({ logDir: zk.logDir, root: zk.root }).violations.map(describeViolation)).toEqual([]);
});
