/** A service works on the tree of its fleet, and on no other: it waits for it, alive, and makes none. */
import { paths, records, type TreeResult } from "@sluice/queue-core";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import { afterEach, describe, expect, test } from "@jest/globals";
import { done, EXIT } from "../src/index.ts";
import { judgeTree } from "../src/service/judge-tree.ts";
import { downloading, type RunningService, World } from "./support/world.ts";

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function emptyWorld(): Promise<World> {
  const world = await World.empty(await testZooKeeper());
  worlds.push(world);
  return world;
}

const QUIET = { IDLE_POLL_INTERVAL_MS: "200" };
const duty = downloading(() => Promise.resolve(done()));

async function ask({ service }: RunningService, path: string): Promise<string> {
  const answer = await fetch(`${await waitFor(() => service.opsUrl)}${path}`);
  return `${answer.status} ${await answer.text()}`;
}

const untilRefused = (running: RunningService, why: string): Promise<string> =>
  waitFor(async () => {
    const metrics = await ask(running, "/metrics");
    return metrics.includes(`sluice_tree_refused{why="${why}"} 1`) && metrics;
  });

const namesIn = async (world: World): Promise<readonly string[]> =>
  (await world.children("/")).filter((name) => name !== "zookeeper");

describe("a service that finds", () => {
  test("an empty ZooKeeper waits for a tree, makes nothing, and goes on by itself when there is one", async () => {
    const world = await emptyWorld();
    const running = world.start("downloader", [duty], QUIET);
    await untilRefused(running, "absent");
    expect(await ask(running, "/livez")).toMatch(/^200/);
    expect(await ask(running, "/readyz?verbose")).toMatch(/^503 .*tree failed: .*sluice init.*sluice restore/s);
    expect(await namesIn(world)).toEqual([]);
    await world.init();
    const id = await world.addJob({ number: 1 });
    expect(await running.recorder.settled()).toMatchObject([{ job: id }]);
    expect(await ask(running, "/metrics")).toContain('sluice_tree_refused{why="absent"} 0');
    expect(await ask(running, "/readyz")).toMatch(/^200/);
  });

  test("a restore that was broken off waits for its end", async () => {
    const world = await emptyWorld();
    const marker = [paths.fleet, paths.restoring].map(
      (path) => ({ op: "create", path, data: Buffer.alloc(0) }) as const,
    );
    await world.write(marker);
    const running = world.start("downloader", [duty], QUIET);
    await untilRefused(running, "unfinished");
    expect(await ask(running, "/readyz?verbose")).toMatch(/^503 .*restore again/s);
    expect(await world.children(paths.fleet)).toEqual(["restoring"]);
  });

  test("its tree gone ends, and after its restart it waits", async () => {
    const world = await emptyWorld();
    await world.init();
    const running = world.start("downloader", [duty], QUIET);
    await running.recorder.until("idle");
    const there = await world.session.get(paths.fleetId);
    const version = there.ok ? there.value.stat.version : NaN;
    await world.write([{ op: "delete", path: paths.fleetId, version }]);
    expect(await running.code).toBe(EXIT.internal);
    const again = world.start("downloader", [duty], QUIET);
    await untilRefused(again, "unreadable");
    expect(await ask(again, "/readyz?verbose")).toMatch(
      /^503 .*no \/fleet\/id: the tree is damaged.*restore --replace/s,
    );
    expect(await world.data(paths.fleetId)).toBeNull();
    await world.write([{ op: "create", path: paths.fleetId, data: records.fleetId.encode("history") }]);
    await again.recorder.until("idle");
  });
});

const OURS = { fleet: "a", epoch: 5 };
const treeOf = (fleet: string, epoch: number): TreeResult => ({ ok: true, identity: { fleet, epoch, history: "h" } });
const obstacle = (why: "absent" | "unfinished" | "silence"): TreeResult => ({
  ok: false,
  why,
  problem: "there is none",
});
const part = (stamp: typeof OURS | null) => ({ name: "the working folder /w", stamp });

describe("judged are", () => {
  test.each([
    ["its own tree", treeOf("a", 5), OURS, { kind: "accepted", behind: [] }],
    ["a tree for a part that holds nothing yet", treeOf("a", 5), null, { behind: ["the working folder /w"] }],
    ["its own tree after a restore", treeOf("a", 6), OURS, { behind: ["the working folder /w"] }],
    ["another fleet's tree", treeOf("b", 5), OURS, { kind: "refused", why: "foreign" }],
    ["its own tree as it was before a restore", treeOf("a", 4), OURS, { kind: "refused", why: "older" }],
    ["no tree", obstacle("absent"), OURS, { kind: "refused", why: "absent" }],
    ["a tree that is being restored", obstacle("unfinished"), OURS, { kind: "refused", why: "unfinished" }],
    ["silence", obstacle("silence"), OURS, { kind: "silence" }],
  ] as const)("%s", (_what, tree, stamp, expected) => {
    expect(judgeTree(tree, [part(stamp)])).toMatchObject(expected);
  });

  test("a refusal names the fleet, the part that belongs to it, what is there, and what to do", () => {
    const problemOf = (tree: TreeResult): string => {
      const verdict = judgeTree(tree, [part(null), part(OURS), part({ fleet: "a", epoch: 2 })]);
      return "problem" in verdict ? verdict.problem : "";
    };
    expect(problemOf(obstacle("absent"))).toBe(
      "The working folder /w belongs to fleet a, epoch 5. ZooKeeper holds no fleet. Bring its tree back with `sluice restore`; `sluice init` would begin another fleet",
    );
    expect(problemOf(treeOf("b", 5))).toMatch(/fleet a, epoch 5\. ZooKeeper holds fleet b\. .*sluice restore/);
    expect(problemOf(treeOf("a", 3))).toMatch(/fleet a, epoch 5\. ZooKeeper holds it in epoch 3: .*--replace/);
  });
});
