import { jobId, paths } from "@sluice/queue-core";
import type { Op } from "@sluice/zookeeper";
import { describeFaults, type Fault, overwrite } from "./fault-bench.ts";
import { create, remove } from "./history.ts";

const JOBS: readonly Fault[] = [
  [
    "I-19 OWNER-WRITES",
    "jobs made by an intake that does not hold the lock of the batch",
    async ({ history }) => {
      const { batch } = await history.batch(1, 0);
      await history.send("batch-intake", await history.claimBatchOps(batch));
      await history.successor("batch-intake");
      await history.job(batch);
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "jobs made under a batch that nobody has locked",
    async ({ history }) => {
      const { batch } = await history.batch(1, 0);
      await history.send("batch-intake", history.jobOps(batch, jobId(900)));
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "the history of a locked job rewritten by another stage",
    async ({ history, id }) => {
      await history.claim(id);
      await history.send("estimator", [await history.historyOp(id, (job) => ({ ...job, attempts: 0 }))]);
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "an event slipped into the history of an unlocked job by its own stage",
    ({ history, id }) =>
      history
        .historyOp(id, (job) => ({ ...job, events: [...job.events, ...job.events] }))
        .then((op) => history.send("batch-intake", [op])),
  ],
  [
    "I-19 OWNER-WRITES",
    "the reason of a wait told by a stage that the job does not wait for",
    async ({ history, id }) => {
      await history.send("recorder", [await history.historyOp(id, (job) => ({ ...job, why: "?" }))]);
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "the end of a callback noted by a stage that calls nobody back",
    async ({ history, id }) => {
      await history.stepTo(id, "Downloading");
      await history.step(id, "Failed");
      await history.send("recorder", [await history.historyOp(id, (job) => ({ ...job, called: [1, "delivered"] }))]);
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "a claim that tears down another's lock",
    async ({ history, id }) => {
      await history.claim(id);
      await history.successor("batch-intake");
      await history.send("batch-intake", [remove(paths.jobLock(id)), ...(await history.claimOps(id))]);
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "a lock removed by nobody in particular",
    async ({ history, id }) => {
      await history.claim(id);
      await history.send("operator", [remove(paths.jobLock(id))]);
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "data written by nobody in particular",
    ({ history, id }) => history.send("operator", [overwrite(paths.jobSpaceNeeded(id), "99")]),
  ],
  [
    "I-19 OWNER-WRITES",
    "an action on one job under the audit of another",
    ({ history, id }) =>
      history.send("operator", [overwrite(paths.jobSpaceNeeded(id), "99"), history.auditOp(jobId(4711))]),
  ],
  [
    "I-19 OWNER-WRITES",
    "a stage that takes away the entry of a completed job",
    async ({ history, id }) => {
      await history.stepTo(id, "Completed");
      await history.send("notifier", [remove(paths.queueEntry("Completed", 5, id))]);
    },
  ],
];

const BATCHES: readonly Fault[] = [
  [
    "I-19 OWNER-WRITES",
    "a report written without the lock",
    ({ history, batch }) => history.send("estimator", [history.reportOp(batch, [], [])]),
  ],
  [
    "I-19 OWNER-WRITES",
    "a report written by a reporter without the lock",
    ({ history, batch }) => history.send("reporter", [history.reportOp(batch, [], [])]),
  ],
  [
    "I-19 OWNER-WRITES",
    "a batch's lock removed by another stage",
    async ({ history, batch }) => {
      await history.send("batch-intake", await history.claimBatchOps(batch));
      await history.send("reporter", [remove(paths.batchLock(batch))]);
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "a cursor rewritten without the lock",
    async ({ history, batch }) => history.send("estimator", [await history.cursorOp(batch, 0)]),
  ],
  [
    "I-19 OWNER-WRITES",
    "a cursor rewritten by a reporter that opens no report",
    async ({ history, batch }) => history.send("reporter", [await history.cursorOp(batch, 0)]),
  ],
  [
    "I-19 OWNER-WRITES",
    "a batch deleted by nobody in particular",
    async ({ history }) => {
      const { batch } = await history.batch(0);
      await history.send("batch-intake", await history.claimBatchOps(batch));
      const failed = await history.batchMoveOps(batch, "Processing", "Failed");
      await history.send("batch-intake", [...failed, remove(paths.batchLock(batch))]);
      await history.send("operator", await history.batchMoveOps(batch, "Failed", "Deleted"));
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "a bucket of a batch made anew without the lock",
    ({ history, batch }) => {
      const bucket = paths.bucket(batch, "batch-failed");
      return history.send("estimator", [remove(bucket), create(bucket)]);
    },
  ],
];

const without = (ops: readonly Op[], directory: string): Op[] => ops.filter(({ path }) => !path.startsWith(directory));

const TRACES: readonly Fault[] = [
  [
    "L-02 MOVE-ADDS-EVENT",
    "a commit that its history does not tell",
    async ({ history, id }) => {
      const owner = await history.claim(id);
      await history.send(owner, without(await history.moveOps(id, "Estimating"), paths.fleetJobs));
    },
  ],
  [
    "L-02 MOVE-ADDS-EVENT",
    "a commit that puts its event before the older ones",
    async ({ history, id }) => {
      const owner = await history.claim(id);
      const ops = without(await history.moveOps(id, "Estimating"), paths.fleetJobs);
      const events = await history.historyOp(id, (job) => ({
        attempts: 0,
        events: [["x", 0, "done", "Pending", "somebody"], ...job.events],
      }));
      await history.send(owner, [...ops, events]);
    },
  ],
  [
    "L-03 CLAIM-ADDS-ATTEMPT",
    "a claim that is not counted",
    async ({ history, id }) => {
      await history.send("batch-intake", without(await history.claimOps(id), paths.fleetJobs));
    },
  ],
  [
    "L-04 FAILED-LEAVES-CALLBACK",
    "a failure that calls nobody back",
    async ({ history, id }) => {
      const owner = await history.claim(id);
      await history.send(owner, without(await history.moveOps(id, "Failed"), paths.callbacks));
    },
  ],
  [
    "L-04 FAILED-LEAVES-CALLBACK",
    "a second failure under the callback of the first",
    async ({ history, id }) => {
      await history.step(id, "Failed");
      await history.operate(id, "Pending", "resume", { retry: 1 });
      const owner = await history.claim(id);
      await history.send(owner, without(await history.moveOps(id, "Failed"), paths.callbacks));
    },
  ],
];

describeFaults("who may write what of a job", JOBS);
describeFaults("who may write what of a batch", BATCHES);
describeFaults("what a step leaves behind", TRACES);
