import { paths } from "@sluice/queue-core";
import { describeFaults, type Fault, overwrite } from "./fault-bench.ts";
import { ANY_VERSION, create, remove } from "./history.ts";
import { jobStatus, PROFILE } from "./words.ts";

const STEPS: readonly Fault[] = [
  [
    "I-14 TERMINAL",
    "a completed job that moves on",
    async (bench) => {
      await bench.history.stepTo(bench.id, "Completed");
      await bench.history.operate(bench.id, "Notify", "resume");
    },
  ],
  [
    "I-14 TERMINAL",
    "a removed job that re-appears",
    async (bench) => {
      const nodes = bench.history.jobOps(bench.batch, bench.id).map(({ path }) => path);
      await bench.history.send(
        "operator",
        [...nodes.slice(1), nodes[0]!].map((path) => remove(path, ANY_VERSION)),
      );
      await bench.history.send("batch-intake", bench.history.jobOps(bench.batch, bench.id));
    },
  ],
  [
    "I-14 TERMINAL",
    "a completed batch that is opened again",
    async (bench) => {
      await bench.history.report(bench.batch, "Completed", [], await bench.endBoth("Completed"));
      await bench.history.send("operator", await bench.history.batchMoveOps(bench.batch, "Completed", "Processing"));
    },
  ],
  [
    "I-15 LEGAL-EDGE",
    "a stage that works another's state",
    async (bench) => {
      await bench.history.send("estimator", await bench.history.claimOps(bench.id));
      await bench.history.send("estimator", await bench.history.moveOps(bench.id, "Estimating"));
    },
  ],
  ["I-15 LEGAL-EDGE", "a stage left out", (bench) => bench.history.step(bench.id, "Provisioning")],
  [
    "I-15 LEGAL-EDGE",
    "an operator who completes a job",
    (bench) => bench.history.operate(bench.id, "Completed", "release"),
  ],
  [
    "I-15 LEGAL-EDGE",
    "a resume while the batch reports",
    async (bench) => {
      await bench.endBoth("Failed");
      await bench.history.send("reporter", await bench.history.gateOps(bench.batch));
      await bench.history.operate(bench.id, "Pending", "resume", { retry: 1 });
    },
  ],
  [
    "I-15 LEGAL-EDGE",
    "a batch that fails with jobs made",
    async (bench) => {
      await bench.history.send("batch-intake", await bench.history.claimBatchOps(bench.batch));
      await bench.history.send("batch-intake", [
        ...(await bench.history.batchMoveOps(bench.batch, "Processing", "Failed")),
        remove(paths.batchLock(bench.batch)),
      ]);
    },
  ],
  [
    "I-16 LAST-SUCCESS",
    "a success that is not noted",
    (bench) => bench.history.step(bench.id, "Estimating", { last: null }),
  ],
  [
    "I-16 LAST-SUCCESS",
    "a failure noted as success",
    (bench) => bench.history.step(bench.id, "Failed", { last: "Failed" }),
  ],
  [
    "I-16 LAST-SUCCESS",
    "a resume that skips a stage",
    async (bench) => {
      await bench.history.step(bench.id, "Failed");
      await bench.history.operate(bench.id, "Recording", "resume", { retry: 1 });
    },
  ],
  [
    "I-17 RETRY-MONOTONE",
    "a resume that is not counted",
    async (bench) => {
      await bench.history.step(bench.id, "Failed");
      await bench.history.operate(bench.id, "Pending", "resume");
    },
  ],
  [
    "I-17 RETRY-MONOTONE",
    "a count without a resume",
    (bench) => bench.history.step(bench.id, "Estimating", { retry: 1 }),
  ],
  [
    "I-27 HOLD",
    "a start in a held collection",
    async (bench) => {
      await bench.history.send("operator", [create(paths.collectionHold(PROFILE))]);
      await bench.history.step(bench.id);
    },
  ],
];

const isEntry = ({ path }: { path: string }): boolean => path.startsWith(`${paths.jobStates}/`);

const FENCES: readonly Fault[] = [
  [
    "I-18 ATOMIC-MOVE",
    "a move in two transactions",
    async (bench) => {
      const owner = await bench.history.claim(bench.id);
      const ops = await bench.history.moveOps(bench.id, "Estimating");
      await bench.history.send(
        owner,
        ops.filter((op) => !isEntry(op)),
      );
      await bench.history.send(owner, ops.filter(isEntry));
    },
  ],
  [
    "I-18 ATOMIC-MOVE",
    "a failed job that stays in its bucket",
    async (bench) => {
      const owner = await bench.history.claim(bench.id);
      const ops = await bench.history.moveOps(bench.id, "Failed");
      await bench.history.send(
        owner,
        ops.filter(({ path }) => !path.startsWith(paths.batches)),
      );
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "a write by a session that does not hold the lock",
    async (bench) => {
      await bench.history.claim(bench.id);
      await bench.history.successor("batch-intake");
      await bench.history.send("batch-intake", [overwrite(paths.jobSpaceNeeded(bench.id), "1")]);
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "a commit without a claim",
    async (bench) => {
      await bench.history.send("batch-intake", await bench.history.moveOps(bench.id, "Estimating", { keepLock: true }));
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "a zombie that commits under its successor's lock",
    async (bench) => {
      await bench.history.claim(bench.id);
      const zombie = await bench.history.successor("batch-intake");
      await bench.history.send("operator", [remove(paths.jobLock(bench.id))]);
      await bench.history.claim(bench.id);
      await zombie.multi(
        (await bench.history.moveOps(bench.id, "Estimating")).map((op) => ({ ...op, version: ANY_VERSION })),
      );
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "a stage that removes another's lock",
    async (bench) => {
      await bench.history.claim(bench.id);
      await bench.history.send("downloader", [remove(paths.jobLock(bench.id))]);
    },
  ],
  [
    "I-19 OWNER-WRITES",
    "a write by nobody in particular",
    (bench) =>
      bench.history.send("operator", [
        overwrite(paths.jobStatus(bench.id), jobStatus({ status: "Pending", message: "?" })),
      ]),
  ],
  [
    "I-19 OWNER-WRITES",
    "a batch moved by a stage without its lock",
    async (bench) => {
      await bench.endBoth("Completed");
      await bench.history.send("reporter", await bench.history.gateOps(bench.batch));
      await bench.history.send("reporter", await bench.history.batchMoveOps(bench.batch, "Reporting", "Completed"));
    },
  ],
  [
    "I-20 EPOCH",
    "a claim that does not move the version",
    async (bench) => {
      const [lock] = await bench.history.claimOps(bench.id);
      await bench.history.send("batch-intake", [lock!]);
    },
  ],
  [
    "I-20 EPOCH",
    "a commit with an old token",
    async (bench) => {
      const owner = await bench.history.claim(bench.id);
      await bench.history.send("operator", [
        overwrite(paths.jobStatus(bench.id), await bench.history.data(paths.jobStatus(bench.id))),
      ]);
      await bench.history.send(owner, await bench.history.moveOps(bench.id, "Estimating"));
    },
  ],
  [
    "I-21 LOCK-WITH-MOVE",
    "a commit that keeps the lock",
    async (bench) => {
      const owner = await bench.history.claim(bench.id);
      await bench.history.send(owner, await bench.history.moveOps(bench.id, "Estimating", { keepLock: true }));
    },
  ],
  [
    "I-21 LOCK-WITH-MOVE",
    "a lock on a held job",
    async (bench) => {
      await bench.history.operate(bench.id, "Held", "hold");
      await bench.history.send("batch-intake", await bench.history.claimOps(bench.id));
    },
  ],
  [
    "I-22 NO-STALE-LOCK",
    "a lock that is not ephemeral",
    (bench) => bench.history.send("batch-intake", [create(paths.jobLock(bench.id))]),
  ],
  [
    "I-22 NO-STALE-LOCK",
    "a lock left at rest",
    async (bench) => {
      await bench.history.claim(bench.id);
    },
  ],
];

describeFaults("which steps are taken", STEPS);
describeFaults("who may write", FENCES);
