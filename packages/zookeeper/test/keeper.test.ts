import { describe, expect, test } from "@jest/globals";
import { keepSession } from "../src/index.ts";
import { TIMEOUT_MS, useZooKeeper } from "./support/bundle.ts";

const zk = useZooKeeper();

describe("a keeper", () => {
  test("makes the chroot that its connect string names, and opens a session there", async () => {
    const keeper = keepSession({ connect: `${zk.server.address}/made/by/keeper`, timeoutMs: TIMEOUT_MS });
    const session = await keeper.untilSession();
    expect(keeper.current()).toBe(session);
    expect(await session?.exists("/")).toMatchObject({ ok: true, value: { numChildren: 0 } });
    await keeper.close();
    expect(keeper.current()).toBeNull();
    expect(session?.state).toBe("lost");
  });
});
