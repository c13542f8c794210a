import { expect, test } from "@jest/globals";
import { batchId, batchUuidFromKey, jobId, paths, records } from "@sluice/queue-core";
import { Bench, describeFaults, type Fault, overwrite } from "./fault-bench.ts";
import { ANY_VERSION, create, remove } from "./history.ts";
import { jobStatus } from "./words.ts";

const PLACES: readonly Fault[] = [
  [
    "I-01 ONE-STATE",
    "a status without entry",
    (bench) => bench.history.send("operator", [remove(bench.entry("Pending"))]),
  ],
  ["I-01 ONE-STATE", "two entries", (bench) => bench.history.send("operator", [create(bench.entry("Estimating"))])],
  [
    "I-01 ONE-STATE",
    "a batch that is listed nowhere",
    (bench) => bench.history.send("operator", [remove(paths.fleetBatch("Processing", bench.batch))]),
  ],
  [
    "I-02 STATE-AGREES",
    "a status that says otherwise than the entry",
    (bench) =>
      bench.history.send("operator", [overwrite(paths.jobStatus(bench.id), jobStatus({ status: "Estimating" }))]),
  ],
  [
    "I-02 STATE-AGREES",
    "a batch that is listed under another state",
    (bench) =>
      bench.history.send("operator", [
        remove(paths.fleetBatch("Processing", bench.batch)),
        create(paths.fleetBatch("Held", bench.batch)),
      ]),
  ],
  [
    "I-03 PRIORITY-AGREES",
    "a priority without its entry",
    (bench) => bench.history.send("operator", [overwrite(paths.jobPriority(bench.id), "1")]),
  ],
  [
    "I-04 BATCH-ONE",
    "a job in no bucket",
    (bench) => bench.history.send("operator", [remove(paths.bucketEntry(bench.batch, "batch-processing", bench.id))]),
  ],
  [
    "I-04 BATCH-ONE",
    "a job in two buckets",
    (bench) => bench.history.send("operator", [create(paths.bucketEntry(bench.batch, "batch-failed", bench.id))]),
  ],
  [
    "I-05 BATCH-AGREES",
    "a running job among the completed",
    (bench) =>
      bench.history.send("operator", [
        remove(paths.bucketEntry(bench.batch, "batch-processing", bench.id)),
        create(paths.bucketEntry(bench.batch, "batch-completed", bench.id)),
      ]),
  ],
  [
    "I-06 BACKREF",
    "a job of no batch",
    (bench) => bench.history.send("operator", [overwrite(paths.jobBid(bench.id), "bid0000009999")]),
  ],
  [
    "I-06 BACKREF",
    "a job that another batch lists",
    async (bench) => {
      const other = await bench.history.batch(0);
      await bench.history.send("operator", [create(paths.bucketEntry(other.batch, "batch-processing", bench.id))]);
    },
  ],
  [
    "I-07 NO-GHOST",
    "an entry without status",
    (bench) => bench.history.send("operator", [create(paths.queueEntry("Pending", 5, jobId(4711)))]),
  ],
  [
    "I-07 NO-GHOST",
    "a status that nobody can read",
    (bench) => bench.history.send("operator", [overwrite(paths.jobStatus(bench.id), "{")]),
  ],
];

const WHOLENESS: readonly Fault[] = [
  [
    "I-08 JOB-WHOLE",
    "a job made in two steps",
    async (bench) => {
      const ops = bench.history.jobOps(bench.batch, jobId(77));
      const isConfiguration = ({ path }: { path: string }) => path.endsWith("/configuration");
      await bench.history.send(
        "batch-intake",
        ops.filter((op) => !isConfiguration(op)),
      );
      await bench.history.send("batch-intake", ops.filter(isConfiguration));
    },
  ],
  [
    "I-08 JOB-WHOLE",
    "a job that vanishes from a live batch",
    async (bench) => {
      const nodes = bench.history.jobOps(bench.batch, bench.id).map(({ path }) => path);
      await bench.history.send(
        "operator",
        [...nodes.slice(1), nodes[0]!].map((path) => remove(path, ANY_VERSION)),
      );
    },
  ],
  [
    "I-09 BATCH-WHOLE",
    "a batch without submission",
    (bench) =>
      bench.history.send(
        "batch-intake",
        bench.history.batchOps(batchId(88)).filter(({ path }) => !path.endsWith("/submission")),
      ),
  ],
  [
    "I-09 BATCH-WHOLE",
    "two keys of one batch",
    (bench) =>
      bench.history.send("operator", [
        create(paths.batchUuid(batchUuidFromKey("somebody", "else")), Buffer.from(bench.batch)),
      ]),
  ],
  [
    "I-10 EXPANSION-EXACT",
    "a job that the cursor does not count",
    (bench) => bench.history.send("batch-intake", bench.history.jobOps(bench.batch, jobId(99))),
  ],
  [
    "I-10 EXPANSION-EXACT",
    "a report of a batch that is not all made",
    async (bench) => {
      const half = await bench.history.batch(2, 1);
      await bench.history.step(half.jobs[0]!, "Failed");
      await bench.history.send("reporter", await bench.history.gateOps(half.batch));
    },
  ],
  [
    "I-38 SIZE",
    "a node of 100,000 bytes",
    (bench) => bench.history.send("operator", [overwrite(paths.fleetJob(bench.id), Buffer.alloc(100_000, "x"))]),
  ],
];

const REPORTS: readonly Fault[] = [
  [
    "I-11 REPORT-GATE",
    "an early report",
    async (bench) => {
      await bench.history.step(bench.id, "Failed");
      await bench.history.send("reporter", await bench.history.batchMoveOps(bench.batch, "Processing", "Reporting"));
    },
  ],
  [
    "I-12 REPORT-EXACT",
    "a report that forgets a job",
    async (bench) => {
      const [first] = await bench.endBoth("Completed");
      await bench.history.report(bench.batch, "Completed", [], [first!]);
    },
  ],
  [
    "I-12 REPORT-EXACT",
    "a report that names a job twice",
    async (bench) => {
      const [first, last] = await bench.endBoth("Completed");
      await bench.history.report(bench.batch, "Completed", [], [first!, last!, last!]);
    },
  ],
  [
    "I-13 VERDICT",
    "Completed with failed jobs",
    async (bench) => {
      await bench.history.report(bench.batch, "Completed", await bench.endBoth("Failed"), []);
    },
  ],
  [
    "I-13 VERDICT",
    "Failed without failed jobs",
    async (bench) => {
      await bench.history.report(bench.batch, "Failed", [], await bench.endBoth("Completed"));
    },
  ],
];

describeFaults("where a job stands", PLACES);
describeFaults("what a job and a batch consist of", WHOLENESS);
describeFaults("when and what a batch reports", REPORTS);

test("a fault that stays is told once", async () => {
  const bench = await Bench.start();
  const { history, id } = bench;
  await history.send("operator", [create(bench.entry("Estimating"))]);
  await history.send("operator", [overwrite(paths.jobSpaceNeeded(id), "7")]);

  expect(history.check().filter(({ invariant }) => invariant === "I-01 ONE-STATE")).toHaveLength(1);
  await history.end();
});

test("the report of a large batch is held to its counts", async () => {
  const bench = await Bench.start();
  await bench.endBoth("Completed");
  const counts = { report: 1, failed: 0, successful: 3 };
  const report = { last_modified: "", failed_jobs: [], successful_jobs: [], counts };
  await bench.history.send("reporter", await bench.history.claimBatchOps(bench.batch));
  await bench.history.send("reporter", [create(paths.batchReport(bench.batch), records.statusReport.encode(report))]);

  expect(bench.history.check()).toMatchObject([{ invariant: "I-12 REPORT-EXACT" }]);
  await bench.history.end();
});
