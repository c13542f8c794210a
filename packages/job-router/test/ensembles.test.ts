/** Shards in two ensembles: one that is away stops its own shards, and no others. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { DEFAULT_TENANT, SHARDS, SYSTEM_TENANT } from "@sluice/job-queue";
import { ownZooKeeper, type OwnZooKeeper, testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { keepSession, type SessionKeeper } from "@sluice/zookeeper";
import type { OtherEnsembles } from "../src/ports.ts";
import { commandOf, getJob, idOf, settled, startRouter, takenOf, type TestRouter } from "./support/routers.ts";

let first: TestZooKeeper;
let other: OwnZooKeeper;
let routers: readonly TestRouter[];
const keepers: SessionKeeper[] = [];

function others(shards: OtherEnsembles["shards"]): OtherEnsembles {
  const keeper = keepSession({ connect: other.connect, timeoutMs: 4_000 });
  keepers.push(keeper);
  return { sessions: new Map([["other", keeper]]), shards };
}

/** The system's shard stands elsewhere. */
const SHARD = SHARDS - 1;

beforeAll(async () => {
  [first, other] = await Promise.all([testZooKeeper(), ownZooKeeper()]);
  routers = await Promise.all(
    ["api-1", "api-2"].map((apiId) => startRouter(first.connect, apiId, { others: others({ [SHARD]: "other" }) })),
  );
  await settled(...routers);
});
afterAll(async () => {
  await Promise.all(routers.map((each) => each.close()));
  await Promise.all(keepers.map((keeper) => keeper.close()));
  await other.stop();
});

const create = (tenant: string, at = 0) =>
  routers[at]!.router.ask(tenant, commandOf("CreateJob", { name: "foo" }, tenant));

test("an ensemble that is away stops its shards alone, and they go on when it is back", async () => {
  expect(routers[0]!.router.shards().map(({ ensemble }) => ensemble)).toEqual([
    ...Array<string>(SHARD).fill(""),
    "other",
  ]);
  const kept = idOf(await create(SYSTEM_TENANT));
  idOf(await create(DEFAULT_TENANT, 1));

  await other.kill("SIGKILL");
  await waitFor(() =>
    routers.every(({ router }) => router.shards()[SHARD]?.state !== "here" || !router.isServed(SHARD)),
  );
  const outcome = await routers[0]!.router.route(
    SYSTEM_TENANT,
    commandOf("CreateJob", { name: "foo" }, SYSTEM_TENANT),
    100,
  );
  expect(outcome.kind).toBe("unavailable");
  for (const at of [0, 1]) idOf(await create(DEFAULT_TENANT, at));

  await other.restart();
  await settled(...routers);
  const again = await waitFor(async () =>
    takenOf(await routers[1]!.router.ask(SYSTEM_TENANT, getJob("foo", SYSTEM_TENANT))),
  );
  expect(again.view.jobID).toBe(kept);
});

test("who was told otherwise where the shards stand serves none of them", async () => {
  const problems: object[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: (fields: object) => void problems.push(fields) };
  const wrong = await startRouter(first.connect, "api-3", { others: others({ "3": "other" }), log });
  await waitFor(() => problems.length >= 2);
  expect(problems[0]).toMatchObject({ problem: "its layout puts shards into other ensembles than we were told" });
  expect(wrong.router.stats().shardsOwned).toBe(0);
  await wrong.close();
});
