import { describe, expect, test } from "@jest/globals";
import { openRawSession, testZooKeeper, tree, waitFor } from "@sluice/testkit";

describe("the tree as an object", () => {
  test("shows data, leaves and locks, with ids by their order", async () => {
    const session = await openRawSession((await testZooKeeper()).connect);
    const create = (path: string, text = "", ephemeral?: true) => ({
      op: "create" as const,
      path,
      data: Buffer.from(text),
      ...(ephemeral === undefined ? {} : { ephemeral }),
    });
    await session.multi([
      create("/jobs"),
      create("/jobs/jid0000000042", "x"),
      create("/jobs/jid0000000042/bid", "bid0000000007"),
      create("/jobs/jid0000000042/status", '{"status":"Pending","ids":["jid0000000042"]}'),
      create("/jobs/jid0000000042/priority", "05"),
      create("/jobs/jid0000000042/lock", "{broken", true),
      create("/jobs/states"),
      create("/jobs/states/05-jid0000000042"),
      create("/other"),
    ]);

    expect(await tree(session, { ids: "normalised", except: /^\/other/ })).toEqual({
      "/jobs/jid0": "x",
      "/jobs/jid0/bid": "bid0",
      "/jobs/jid0/lock (ephemeral)": "{broken",
      "/jobs/jid0/priority": "05",
      "/jobs/jid0/status": { status: "Pending", ids: ["jid0"] },
      "/jobs/states/05-jid0": null,
    });
    expect(await tree(session, { under: ["/jobs/states", "/other"] })).toEqual({
      "/jobs/states/05-jid0000000042": null,
      "/other": null,
    });
    await session.close();
  });
});

describe("waitFor", () => {
  test("returns the first value there is", async () => {
    const values = [null, undefined, false, 0, 1] as const;
    let at = 0;

    expect(await waitFor(() => values[at++])).toBe(0);
  });

  test("says what did not come true", async () => {
    await expect(waitFor(() => false, { what: "the end of days", limitMs: 1 })).rejects.toThrow(
      "the end of days did not come true within 1 ms",
    );
  });
});
