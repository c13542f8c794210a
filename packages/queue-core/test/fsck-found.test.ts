/** Operators are told of each set of findings once, on a real ZooKeeper. */
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { findingsId, noticeFindings, paths, records } from "../src/index.ts";

const MAIL = { subject: "fsck: 1 finding", text: "J-01 /jobs/jid1", at: "2026-11-16T13:00:00.000Z" };
const ONE = { rule: "J-01", path: "/jobs/jid1" };
const OTHER = { rule: "J-02", path: "/jobs/jid1" };

let first: TestWorker;
let second: TestWorker;
beforeAll(async () => {
  const { connect } = await testZooKeeper();
  const open = () => testWorker(connect, "operator", { register: false });
  [first, second] = await Promise.all([open(), open()]);
});
afterAll(async () => {
  await Promise.all([first.close(), second.close()]);
});
beforeEach(async () => {
  await noticeFindings(first.session, [], MAIL);
  await takeMails();
});

/** As a reporter that has sent them. */
async function takeMails(): Promise<readonly string[]> {
  const listed = await first.session.children(paths.operatorMails);
  const names = listed.ok ? [...listed.value.names].sort() : [];
  for (const name of names) await first.session.multi([{ op: "delete", path: paths.operatorMail(name), version: 0 }]);
  return names;
}

test("a set of findings is news once, in whatever order and words it comes", async () => {
  expect(await noticeFindings(first.session, [ONE, OTHER], MAIL)).toBe("news");
  const node = await first.session.get(paths.operatorMail(findingsId([ONE, OTHER])));
  expect(node.ok && records.operatorMail.decode(node.value.data)).toEqual({ ok: true, value: MAIL });
  expect(await noticeFindings(second.session, [OTHER, ONE, ONE], { ...MAIL, text: "in other words" })).toBe("known");
  expect(await takeMails()).toEqual([findingsId([OTHER, ONE])]);
  expect(await noticeFindings(first.session, [ONE], MAIL)).toBe("news");
  expect(await takeMails()).toEqual([findingsId([ONE])]);
});

test("what was mended and is found again is news again, and ordered once while its mail waits", async () => {
  expect(await noticeFindings(first.session, [ONE], MAIL)).toBe("news");
  expect(await noticeFindings(first.session, [], MAIL)).toBe("clean");
  expect(await noticeFindings(first.session, [], MAIL)).toBe("clean");
  expect(await noticeFindings(first.session, [ONE], MAIL)).toBe("news");
  expect(await takeMails()).toHaveLength(1);
});

test("of two who find the same at the same time one orders the mail", async () => {
  const both = await Promise.all([first, second].map(({ session }) => noticeFindings(session, [OTHER], MAIL)));
  expect(both.filter((noticed) => noticed === "news")).toHaveLength(1);
  expect(await takeMails()).toHaveLength(1);
});
