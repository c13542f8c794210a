import { expect, test } from "@jest/globals";
import type { Answer } from "@sluice/job-doors";
import { TenantRoom } from "../src/tenant-room.ts";

test("adds that no owner is asked for are bounded by what the owner counted last", async () => {
  let [now, asked, jobs] = [0, 0, 90];
  let isAway = false;
  const queue = {
    ask: (): Promise<Answer> => {
      asked += 1;
      if (isAway) return Promise.resolve(null);
      const type = { tenant: "a", name: "t", states: { QUEUED: jobs }, ready: 0, oldestDue: null };
      return Promise.resolve({ status: { code: 200, text: "OK" }, content: { kind: "counts", types: [type] } });
    },
  };
  const room = new TenantRoom({ queue, monotonicMs: () => now, jobsPerTenant: 100 });
  expect(await room.refusal("a", 10)).toBeNull();
  expect((await room.refusal("a", 11))?.status).toMatchObject({ code: 429, retryAfterMs: 60_000 });
  expect(asked).toBe(1);
  [now, jobs] = [1_000, 100];
  expect((await room.refusal("a", 1))?.status.text).toBe("Too many jobs of tenant a: 100 is the limit");
  // Accepted on our disk, as always while nobody answers: the journal has bounds of its own.
  [now, isAway] = [2_000, true];
  expect(await room.refusal("a", 1)).toBeNull();
});
