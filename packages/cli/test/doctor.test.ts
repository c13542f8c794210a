/** `sluice doctor` against a real admin, and its verdicts. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { aBatchOfJobs, testWorker, type TestWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { startAdmin, type TestAdmin } from "../../../services/admin/test/support.ts";
import { judgeClock, judgeReach, type Verdict } from "../src/doctor/checks.ts";
import { sluice } from "./support.ts";

let admin: TestAdmin;
let intake: TestWorker;
beforeAll(async () => {
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  await aBatchOfJobs(intake, 2);
  admin = await startAdmin(connect);
});
afterAll(async () => {
  await admin.stop();
  await intake.close();
});

async function examine(token: string, more: Readonly<Record<string, string>> = {}) {
  const env = { SLUICE_ADMIN_URL: admin.url, SLUICE_TOKEN: token, ...more };
  const { code, out } = await sluice("doctor -o json", { env });
  const { items } = JSON.parse(out) as { items: readonly Verdict[] };
  return { code, of: (check: string) => items.find((each) => each.check === check) };
}

describe("sluice doctor", () => {
  test("tells what passes, what needs a look and what to do about it", async () => {
    const { code, of } = await examine(admin.tokens.operator, { SLUICE_INTAKE_URL: "http://127.0.0.1:9" });
    expect(code).toBe(1);
    expect(of("intake")).toMatchObject({ result: "fail", next: expect.stringContaining("SLUICE_INTAKE_URL") });
    for (const check of ["admin", "clock of admin", "token", "zookeeper", "pauses"])
      expect(of(check)).toMatchObject({ check, result: "pass", next: "" });
    expect(of("token")?.says).toBe("operator, operator of everything");
    expect(of("batch-intake")).toMatchObject({ result: "pass" });
    expect(of("downloader")).toMatchObject({ result: "warn", says: "no worker; 0 jobs waiting" });
  });

  test("shows a depositor what is theirs to know", async () => {
    const { code, of } = await examine(admin.tokens.depositor);
    expect([code, of("token")?.result, of("downloader")]).toEqual([2, "pass", undefined]);
  });

  test("says whose token is not known", async () => {
    const { code, of } = await examine("sluice_nobody");
    expect(code).toBe(1);
    expect(of("admin")).toMatchObject({ result: "fail", next: expect.stringContaining("sluice token create") });
  });

  test("names a pause, and how it is lifted", async () => {
    const env = { SLUICE_ADMIN_URL: admin.url, SLUICE_TOKEN: admin.tokens.operator };
    expect((await sluice('queue pause --reason "patching" --yes', { env })).code).toBe(0);
    const pauses = await waitFor(async () => {
      const found = (await examine(admin.tokens.operator)).of("pauses");
      return found?.result === "warn" && found;
    });
    expect(pauses).toMatchObject({
      result: "warn",
      says: "the queue is paused by operator: patching",
      next: expect.stringContaining("sluice queue resume"),
    });
  });
});

test("a clock that differs is told with which way", () => {
  const reached = { service: "admin", url: "http://a", status: 200, why: "" } as const;
  expect(judgeClock({ ...reached, clockMs: 1_000 }, 3_000)).toMatchObject([{ result: "pass" }]);
  expect(judgeClock({ ...reached, clockMs: 0 }, 600_000)).toMatchObject([
    { result: "warn", says: "10m behind this machine's" },
  ]);
  expect(judgeReach({ ...reached, clockMs: null, status: 503, why: "no ZooKeeper" })).toMatchObject({ result: "fail" });
});
