/** `sluice import`: what it says, what it asks, and that nothing is written before. */
import { expect, test } from "@jest/globals";
import { cdlWriter, openRawSession, testZooKeeper } from "@sluice/testkit";
import { sluice } from "./support.ts";

const CONFIGURATION = { profile: "merritt_demo_content", type: "file", payload_url: "https://depositor.example/a.txt" };

test("lists first, refuses while something cannot be brought, and brings the rest when told so", async () => {
  const { connect } = await testZooKeeper();
  const cdl = await cdlWriter(connect);
  const submission = { profile: "merritt_demo_content", type: "file", filename: "a.txt" };
  const good = await cdl.createBatch({ submission, status: "Reporting" });
  const job = await cdl.createJob({ batch: good, configuration: CONFIGURATION, status: "Storing" });
  const stuck = await cdl.createBatch({ submission, status: "Pending" });
  await cdl.close();

  const dry = await sluice(`import --zookeeper ${connect} --dry-run`);
  expect([dry.code, dry.out]).toEqual([2, expect.stringMatching(new RegExp(`${job} +Storing +Downloading`))]);
  expect(dry.out).toContain(`/batches/${stuck}/submission a.txt is a file of the old fleet`);
  const refused = await sluice(`import --zookeeper ${connect} --reason "a test" --yes`);
  expect([refused.code, refused.err]).toEqual([4, expect.stringContaining("nothing was written")]);
  const session = await openRawSession(connect);
  expect(await session.get("/fleet")).toMatchObject({ code: "NO_NODE" });
  const done = await sluice(`import --zookeeper ${connect} --leave-out --reason "a test"`, { answers: ["import"] });
  expect([done.code, done.err]).toEqual([2, expect.stringContaining("brought: 1 batch, 1 job")]);
  expect(await session.get(`/fleet/jobs/${job}`)).toMatchObject({ ok: true });
  await session.close();
});

test("needs to know where, and both folders or none", async () => {
  expect((await sluice("import --dry-run")).code).toBe(64);
  expect((await sluice("import --zookeeper 127.0.0.1:1 --old-files /old --dry-run")).code).toBe(64);
});
