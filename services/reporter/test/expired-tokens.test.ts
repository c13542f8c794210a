import { expect, test } from "@jest/globals";
import { keepToken, paths, readTokens, records } from "@sluice/queue-core";
import { testWorker, testZooKeeper } from "@sluice/testkit";
import { expiredTokensSweep } from "../src/sweeps/expired-tokens.ts";
import { handlerContext } from "./support.ts";

const DAY_MS = 86_400_000;
const OLGA = { name: "olga", reason: "a test" };

test("a token that expired 31 days ago leaves the tree with an audit record; one that could still be asked about stays", async () => {
  const worker = await testWorker((await testZooKeeper()).connect, "reporter");
  const expiring = (id: string, daysAgo: number) => ({
    id: id.padEnd(12, "0"),
    name: `expired ${daysAgo} days ago`,
    role: "viewer",
    collections: ["*"],
    hash: "0".repeat(64),
    created: "",
    created_by: "olga",
    expires: new Date(worker.session.serverNowMs() - daysAgo * DAY_MS).toISOString(),
  });
  for (const token of [expiring("a", 31), expiring("b", 29), expiring("c", -1)])
    expect(await keepToken(worker.ctx, OLGA, token)).toEqual({ kind: "applied" });

  await expiredTokensSweep(1_000).run({ ...handlerContext(), queue: worker.ctx, worker: "w" });

  const left = await readTokens(worker.session);
  if (left === null || left === "silence") throw new Error("no answer");
  expect(left.tokens.map(({ id }) => id[0]).sort()).toEqual(["b", "c"]);
  const node = await worker.session.get(paths.auditRecord(4));
  expect(node.ok && records.auditRecord.decode(node.value.data)).toMatchObject({
    value: { action: "token.revoke", target: "a00000000000", actor: "system", reason: "it expired over 30 days ago" },
  });
  await worker.close();
});
