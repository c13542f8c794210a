import { describe, expect, test } from "@jest/globals";
import { makeCommitter } from "../src/index.ts";
import { text, useZooKeeper } from "./support/bundle.ts";

const zk = useZooKeeper();

describe("a committer over a real ZooKeeper", () => {
  test("answers each of the moves of one group for itself", async () => {
    const session = await zk.session();
    const groups: number[] = [];
    const committer = makeCommitter(session, { onGroup: (members) => groups.push(members) });
    const names = ["a", "b", "c", "d"];
    const answers = await Promise.all(
      names.map((name) =>
        committer.submit({ rank: "claim", ops: [{ op: "create", path: `/${name}`, data: text(name) }] }),
      ),
    );
    expect(answers.map((answer) => answer.ok)).toEqual([true, true, true, true]);
    expect(groups).toEqual([4]);
    const listed = await session.children("/");
    expect(listed.ok && [...listed.value.names].sort()).toEqual(names);
  });
});
