/** Who listens hears of every change, also of one that comes in the middle of a look. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Signs } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import { type Look, makeLive, type News, type Subject } from "../src/http/reading/live.ts";

let gone = new AbortController();
beforeEach(() => {
  gone = new AbortController();
});
afterEach(() => gone.abort());

/** A thing in a tree that changes when the test says so; `meanwhile` happens once, after its signs were read. */
function world() {
  const tree = { zxid: 1n, state: "A", meanwhile: (): void => undefined, inTree: true };
  const change = (state: string): void => {
    tree.state = state;
    tree.zxid += 1n;
  };
  const signs = (): Signs => ({ zxid: tree.zxid, print: `${tree.zxid}` });
  const live = makeLive({
    everyMs: 1,
    readSigns: (things) => {
      const read = things.map(signs);
      const meanwhile = tree.meanwhile;
      tree.meanwhile = () => undefined;
      meanwhile();
      return Promise.resolve(read);
    },
  });
  const look = (): Look => {
    const view = { profile: "demo_content", state: tree.state };
    return tree.inTree
      ? { kind: "seen", view, ended: false, signs: ["/thing"] }
      : { kind: "seen", view, ended: false, signs: [], id: "accepted" };
  };
  const subject: Subject = { key: "thing", look: () => Promise.resolve(look()) };
  const told: News[] = [];
  const listen = async (): Promise<News> => {
    const first = await live.look(subject);
    if (first.kind === "problem") throw new Error(first.problem.detail);
    live.listen(subject, first.news, (news) => told.push(news), gone.signal);
    return first.news;
  };
  const shown = ({ id, view }: News): unknown => [id, (view as { state?: string }).state];
  return { tree, change, listen, told: () => told.map(shown), shown };
}

test("a change between signs and view is told again under the id that it deserves", async () => {
  const { tree, change, listen, told, shown } = world();
  tree.meanwhile = () => change("B");
  // Under the id of the state before: whoever saw that state is not told this view.
  expect(shown(await listen())).toEqual(["1", "B"]);
  await waitFor(() => told().length > 0);
  expect(told()).toEqual([["2", "B"]]);
});

test("so is one that comes while a listener is there already", async () => {
  const { tree, change, listen, told } = world();
  await listen();
  tree.meanwhile = () => change("B");
  await waitFor(() => told().length > 0);
  tree.meanwhile = () => change("C");
  change("B again");
  await waitFor(() => told().some((news) => JSON.stringify(news) === '["4","C"]'));
  expect(told().at(-1)).toEqual(["4", "C"]);
});

test("what is not in the tree yet is looked at itself, and gets the tree's ids when it is there", async () => {
  const { tree, change, listen, told, shown } = world();
  tree.inTree = false;
  expect(shown(await listen())).toEqual(["accepted", "A"]);
  tree.inTree = true;
  change("B");
  await waitFor(() => told().length > 0);
  expect(told()).toEqual([["2", "B"]]);
});
