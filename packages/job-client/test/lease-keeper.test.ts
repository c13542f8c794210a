import { expect, test } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { LeaseKeeper, type Lost } from "../src/lease-keeper.ts";

const LEASE = { tenant: "acme", jobID: 1, lease: "1.1" };

test("a lease that cannot be renewed is lost in time, also while the answer is awaited", async () => {
  let asked = 0;
  const keeper = new LeaseKeeper(() => {
    asked += 1;
    // A job-api that was stopped says nothing, for as long as one waits.
    return new Promise(() => undefined);
  }, 20);
  const lost: Lost[] = [];
  keeper.hold(LEASE, 500, (why) => lost.push(why));
  await waitFor(() => lost.length > 0);
  expect([asked, lost]).toEqual([1, ["silence"]]);
  keeper.stop();
});

test("a lease that was let go of is neither renewed nor lost", async () => {
  const rounds: number[] = [];
  const keeper = new LeaseKeeper((leases) => {
    rounds.push(leases.length);
    return Promise.resolve({ ok: true, status: 200, value: [1] });
  }, 20);
  const lost: string[] = [];
  keeper.hold(LEASE, 60_000, () => lost.push("first"))();
  keeper.hold({ ...LEASE, jobID: 2 }, 60_000, () => lost.push("second"));
  keeper.hold({ ...LEASE, jobID: 1, lease: "1.2" }, 60_000, (why) => lost.push(why));
  await waitFor(() => rounds.length >= 2);
  expect([rounds.slice(0, 2), lost]).toEqual([[2, 1], ["told"]]);
  keeper.stop();
});
