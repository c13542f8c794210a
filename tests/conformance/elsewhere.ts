/** Lines whose test stands beside what keeps them: the file that has a test of that name. */
import type { Checklist } from "./lines.ts";

const WORKERS = "packages/job-workers/test/registry.test.ts";
const JOURNAL = "packages/job-journal/test/journal.test.ts";
const CONTAINERS = "services/job-runner/test/containers.test.ts";
const DECISIONS = "services/job-runner/test/decisions.test.ts";
const SCHEDULER = "packages/job-queue/test/scheduler.test.ts";

export const ELSEWHERE: Readonly<Record<Checklist, Readonly<Record<string, string>>>> = {
  bedrock: {},
  etcd: {
    E1: WORKERS,
    E2: WORKERS,
    E3: WORKERS,
    E4: WORKERS,
    E5: WORKERS,
    E14: CONTAINERS,
    E16: CONTAINERS,
    E17: CONTAINERS,
    E19: WORKERS,
    E20: WORKERS,
  },
  serverless: {
    M4: "packages/job-journal/test/killed.test.ts",
    M5: JOURNAL,
    M6: JOURNAL,
    M7: JOURNAL,
    M8: JOURNAL,
    M9: JOURNAL,
    M17: DECISIONS,
    M18: DECISIONS,
    M19: "services/job-runner/test/runner.test.ts",
    M20: "tests/conformance/conformance.test.ts",
    M21: DECISIONS,
    M23: DECISIONS,
    M24: SCHEDULER,
    M26: WORKERS,
    M27: "packages/job-journal/test/adds.test.ts",
  },
};
