import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { paths } from "@sluice/queue-core";
import { aBatchOfJobs, aJobSpec, openRawSession, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { browse } from "../src/index.ts";

let intake: TestWorker;
let connect: string;
beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
});
afterEach(() => intake.close());

async function plant(path: string, data: Buffer): Promise<void> {
  const foreign = await openRawSession(connect);
  await foreign.multi([{ op: "create", path, data }]);
  await foreign.close();
}

test("shows JSON, text, bytes and nothing, with size and stat", async () => {
  const { jobs } = await aBatchOfJobs(intake, 1);
  expect(await browse(intake.session, paths.jobStatus(jobs[0]!))).toMatchObject({
    kind: "found",
    node: { data: { kind: "json", value: { status: "Pending" } }, stat: { version: 0, ephemeralOwner: null } },
  });
  expect(await browse(intake.session, paths.jobPriority(jobs[0]!))).toMatchObject({
    node: { data: { kind: "text", value: "5", cut: false }, size: 1 },
  });
  await plant("/raw", Buffer.from([255, 0]));
  expect(await browse(intake.session, "/raw")).toMatchObject({ node: { data: { kind: "base64", value: "/wA=" } } });
  expect(await browse(intake.session, paths.jobs)).toMatchObject({ node: { data: { kind: "empty" } } });
  expect(await browse(intake.session, paths.worker("batch-intake", intake.actor.worker))).toMatchObject({
    node: { stat: { ephemeralOwner: `0x${intake.session.id.toString(16)}` } },
  });
  expect(await browse(intake.session, "/none")).toEqual({ kind: "none" });
  expect(await browse(intake.session, "/a/../b")).toMatchObject({ kind: "refused" });
});

test("gives children page by page, each once", async () => {
  const { batch, jobs } = await aBatchOfJobs(intake, 7);
  const seen: string[] = [];
  for (let after: string | undefined, more = true; more;) {
    const page = await browse(intake.session, paths.bucket(batch, "batch-processing"), {
      limit: 3,
      ...(after === undefined ? {} : { after }),
    });
    if (page.kind !== "found") throw new Error(page.kind);
    expect(page.node.children.total).toBe(7);
    expect(page.node.children.names.length).toBeLessThanOrEqual(3);
    seen.push(...page.node.children.names);
    after = page.node.children.next ?? undefined;
    more = after !== undefined;
  }
  expect(seen).toEqual(jobs);
});

test("shows no query string, no password and no token's digest", async () => {
  const spec = aJobSpec();
  const payload_url = "https://me:secret@store.example/a/b?X-Signature=secret&x=1";
  const { jobs } = await aBatchOfJobs(intake, [{ ...spec, configuration: { ...spec.configuration, payload_url } }]);
  const shown = await browse(intake.session, paths.jobConfiguration(jobs[0]!));
  expect(shown).toMatchObject({ node: { data: { value: { payload_url: "https://…@store.example/a/b?…" } } } });
  await plant(paths.token("abcdefghijkl"), Buffer.from('{"id":"abcdefghijkl","hash":"secret"}'));
  await plant("/text", Buffer.from("see https://h/x?sig=secret and https://h/y"));
  const others = [await browse(intake.session, paths.token("abcdefghijkl")), await browse(intake.session, "/text")];
  expect(JSON.stringify([shown, others], null, 1)).not.toContain("secret");
  expect(others[1]).toMatchObject({ node: { data: { value: "see https://h/x?… and https://h/y" } } });
});
