/** Protocol and request rules of Bedrock::Jobs, line by line. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { renewAll } from "../src/bedrock/held-leases.ts";
import { MemoryQueue } from "./support/memory-queue.ts";
import { contentOf, statusOf, WireTalk } from "./support/wire-talk.ts";

let queue: MemoryQueue;
let nc: WireTalk;
beforeEach(() => {
  queue = new MemoryQueue();
  nc = new WireTalk(queue);
});

const status = async (...lines: readonly string[]): Promise<string> => statusOf(await nc.say(...lines));
const content = async (...lines: readonly string[]): Promise<unknown> => contentOf(await nc.say(...lines));

describe("A1: the verb is the text before the first space, in any case", () => {
  test.each(["CreateJob", "CreateJob / HTTP/1.1", "createjob", "CREATEJOB /x HTTP/1.0"])("%s", async (verb) => {
    expect(await nc.say(verb, "name: foo")).toBe('200 OK\nContent-Length: 11\n\n{"jobID":1}');
  });

  test("of every command", async () => {
    for (const http of ["", " / HTTP/1.1"]) {
      await nc.say("CreateJob", "name: foo");
      const { jobID } = (await content(`GetJob${http}`, "name: foo")) as { jobID: number };
      expect(await status(`RetryJob${http}`, `jobID: ${jobID}`)).toBe("200 OK");
      await nc.say("GetJob", "name: foo");
      expect(await status(`FinishJob${http}`, `jobID: ${jobID}`)).toBe("200 OK");
      expect(await status(`QueryJob${http}`, `jobID: ${jobID}`)).toBe("404 No job with this jobID");
    }
  });

  test("names of headers in any case", async () => {
    expect(await content("CreateJob", "NAME: foo", 'Data: {"a":1}')).toEqual({ jobID: 1 });
    expect(await content("GetJob", "nAmE: foo")).toEqual({ data: { a: 1 }, jobID: 1, name: "foo" });
  });
});

test("A2: CancelJob / HTTP/1.1 cancels like CancelJob", async () => {
  await nc.say("CreateJob", "name: parent");
  await nc.say("GetJob", "name: parent");
  for (const name of ["one", "two"]) await nc.say("CreateJob", `name: ${name}`, "parentJobID: 1");
  await nc.say("FinishJob", "jobID: 1");
  expect(await status("CancelJob / HTTP/1.1", "jobID: 2")).toBe("200 OK");
  expect(await content("QueryJob", "jobID: 2")).toMatchObject({ state: "CANCELLED" });
});

describe("A3: the commands", () => {
  const VERBS =
    "GetJob GetJobs QueryJob CreateJob CreateJobs CancelJob UpdateJob RetryJob FinishJob FailJob DeleteJob RequeueJobs CrashBedrockJob ClearCrashedBedrockJobs";

  test.each(VERBS.split(" "))("%s is known", async (verb) => {
    expect(await status(verb)).not.toBe("430 Unrecognized command");
  });

  test("others are not", async () => {
    expect(await status("Dance")).toBe("430 Unrecognized command");
  });

  test("jobs are made to crash only from near addresses", async () => {
    const far = new WireTalk(queue, { isNear: false });
    for (const verb of ["CrashBedrockJob", "ClearCrashedBedrockJobs"])
      expect(statusOf(await far.say(verb, "name: foo*"))).toBe("401 Unauthorized");
    expect(await status("CrashBedrockJob", "name: foo*")).toBe("200 OK");
    await nc.say("CreateJob", "name: foo");
    expect(await nc.say("GetJob", "name: foo")).toBe("200 OK\nContent-Length: 2\n\n{}");
    expect(await content("QueryJob", "jobID: 1")).toMatchObject({ state: "FAILED" });
  });
});

describe("A4: a jobID is a canonical integer", () => {
  test.each([
    ["", "402 Missing jobID"],
    ["jobID:", "402 Missing jobID"],
    ["jobID: 1x", "402 Malformed jobID"],
    ["jobID: 01", "402 Malformed jobID"],
    ["jobID: +1", "402 Malformed jobID"],
    ["jobID: 1", "404 No job with this jobID"],
    ["jobID: 9223372036854775807", "404 No job with this jobID"],
  ])("%s", async (header, expected) => {
    expect(await status("QueryJob", ...(header === "" ? [] : [header]))).toBe(expected);
  });
});

describe("A5: sizes", () => {
  test.each([
    ["CreateJob", ["name:"], "402 Missing name"],
    ["CreateJob", [`name: ${"x".repeat(255)}`], "200 OK"],
    ["CreateJob", [`name: ${"x".repeat(256)}`], "402 Malformed name"],
    ["GetJob", [`name: ${"x".repeat(12_750)}`], "404 No job found"],
    ["GetJob", [`name: ${"x".repeat(12_751)}`], "402 Malformed name"],
    ["UpdateJob", ["jobID: 1", "data:"], "402 Missing data"],
    ["UpdateJob", ["jobID: 1", `data: {"a":"${"x".repeat(1_048_576)}"}`], "402 Malformed data"],
  ])("%s %#", async (verb, headers, expected) => {
    expect(await status(verb, ...headers)).toBe(expected);
  });
});

describe("A6: timeouts", () => {
  test.each([
    [[], 110_000],
    [["timeout: 5000"], 5_000],
  ])("a command is given %j, else it is answered without an end", async (headers, ms) => {
    let speak: () => void = () => undefined;
    queue.silence = new Promise((resolve) => (speak = resolve));
    let answer = "";
    const asked = nc.say("CreateJob", "name: foo", ...headers).then((text) => (answer = text));
    await queue.pass(ms - 1);
    expect(answer).toBe("");
    await queue.pass(1);
    expect(await asked).toBe("555 Timeout\n\n");
    speak();
  });

  test("who waits for a job waits as long", async () => {
    const short = nc.say("GetJob", "name: foo", "connection: wait", "timeout: 10");
    const usual = nc.say("GetJob", "name: foo", "connection: wait");
    await queue.pass(10);
    expect(statusOf(await short)).toBe("404 No job found");
    await queue.pass(109_990);
    expect(statusOf(await usual)).toBe("404 No job found");
  });

  test("jobs that come too late are given back", async () => {
    await nc.say("CreateJob", "name: foo");
    let speak: () => void = () => undefined;
    queue.silence = new Promise((resolve) => (speak = resolve));
    const asked = nc.say("GetJob", "name: foo", "timeout: 10");
    await queue.pass(10);
    expect(await asked).toBe("555 Timeout\n\n");
    speak();
    queue.silence = null;
    await nc.errands.close();
    expect(await content("QueryJob", "jobID: 1")).toMatchObject({ state: "QUEUED" });
  });

  test("what is no time is refused", async () => {
    expect(await status("GetJob", "name: foo", "timeout: soon")).toBe("402 Malformed timeout");
    expect(await status("GetJob", "name: foo", "commandExecuteTime: -1")).toBe("402 Malformed commandExecuteTime");
  });
});

describe("A7: 202", () => {
  test("who forgets is told at once that it is queued", async () => {
    expect(await nc.say("CreateJob", "name: foo", "Connection: forget")).toBe("202 Successfully queued\n\n");
    expect(await content("GetJob", "name: foo")).toMatchObject({ jobID: 1 });
    expect(await nc.say("FinishJob", "jobID: 1", "Connection: forget")).toBe("202 Successfully queued\n\n");
    await nc.errands.close();
    expect(await status("QueryJob", "jobID: 1")).toBe("404 No job with this jobID");
  });

  test("a job is accepted when it is written, and refused when it is wrong", async () => {
    queue.isAway = true;
    expect(await status("CreateJob", "name: foo", "Connection: forget")).toBe("503 Not known whether this was done");
    queue.isAway = false;
    expect(await status("CreateJob", "name: foo", "parentJobID: 7", "Connection: forget")).toBe(
      "404 parentJobID does not exist",
    );
  });

  test("a job whose creation is for later is there, and runs then", async () => {
    const at = `commandExecuteTime: ${(queue.now + 60_000) * 1000}`;
    expect(await status("CreateJob", "name: foo", at)).toBe("202 Successfully queued");
    await queue.pass(59_999);
    expect(await status("GetJob", "name: foo")).toBe("404 No job found");
    await queue.pass(1);
    expect(await status("GetJob", "name: foo")).toBe("200 OK");
  });

  test("other commands for later are carried out then", async () => {
    await nc.say("CreateJob", "name: foo");
    const at = `commandExecuteTime: ${(queue.now + 60_000) * 1000}`;
    expect(await status("DeleteJob", "jobID: 1", at)).toBe("202 Successfully queued");
    await queue.pass(59_999);
    expect(await status("QueryJob", "jobID: 1")).toBe("200 OK");
    await queue.pass(1);
    expect(await status("QueryJob", "jobID: 1")).toBe("404 No job with this jobID");
  });

  test("a time that has passed is now", async () => {
    expect(await status("CreateJob", "name: foo", `commandExecuteTime: ${queue.now * 1000}`)).toBe("200 OK");
  });

  test("jobs that are got for nobody are given back, as if never taken", async () => {
    await nc.say("CreateJob", "name: foo", "retryAfter: +1 HOUR");
    expect(await status("GetJob", "name: foo", "Connection: forget")).toBe("202 Successfully queued");
    await nc.errands.close();
    expect(await content("QueryJob", "jobID: 1")).toMatchObject({ state: "QUEUED", data: {} });
  });
});

test("A8: a jobID is a JSON number", async () => {
  expect(await nc.say("CreateJob", "name: foo")).toMatch(/\{"jobID":1\}$/);
  expect(await nc.say("CreateJobs", 'jobs: [{"name":"a"},{"name":"b"}]')).toMatch(/\{"jobIDs":\[2,3\]\}$/);
  expect(await nc.say("GetJobs", "name: *", "numResults: 2")).toMatch(
    /\{"jobs":\[\{"data":\{\},"jobID":1,"name":"foo"\},\{"data":\{\},"jobID":2,"name":"a"\}\]\}$/,
  );
});

describe("A9: texts that are JSON by themselves are written as they are", () => {
  test.each([
    ["foo", '"foo"'],
    ["123", "123"],
    ["-1.5e3", "-1.5e3"],
    ["true", "true"],
    ["null", "null"],
    ["01", '"01"'],
    ["truely", '"truely"'],
    ['{"a":[1]}', '{"a":[1]}'],
    ["[1]", "[1]"],
    ["[1", '"[1"'],
    ['say "x" \\ ü', '"say \\"x\\" \\\\ ü"'],
  ])("%s", async (name, printed) => {
    await nc.say("CreateJob", `name: ${name}`);
    expect(await nc.say("QueryJob", "jobID: 1")).toContain(`"name":${printed},"state":"QUEUED"}`);
  });

  test("data keeps its bytes, and its length is counted in bytes", async () => {
    const data = '{ "big":12345678901234567890, "text":"123", "ü":[ ] }';
    await nc.say("CreateJob", "name: foo", `data: ${data}`);
    const printed = `{"data":${data},"jobID":1,"name":"foo"}`;
    expect(printed).toHaveLength(85);
    expect(await nc.say("GetJob", "name: foo")).toBe(`200 OK\nContent-Length: 86\n\n${printed}`);
  });

  test("all fields, on request: nine of a job, two more of a child and of a parent", async () => {
    await nc.say("CreateJob", "name: foo", "repeat: finished, +1 minute");
    const all = await nc.say("GetJob", "name: foo", "fields: all");
    expect(Object.keys(contentOf(all) as object)).toEqual(
      "created data jobID lastRun name nextRun priority repeat retryAfter".split(" "),
    );
    expect(all).toMatch(/^200 OK\nLease: \d+\.\d+\nContent-Length: /);
    expect(Object.keys((await content("QueryJob", "jobID: 1", "fields: all")) as object)).toHaveLength(10);
    await nc.say("CreateJob", "name: child", 'data: {"c":1}', "parentJobID: 1");
    await nc.say("FinishJob", "jobID: 1");
    expect(await content("GetJob", "name: child", "fields: all")).toMatchObject({ parentJobID: 1, parentData: {} });
    await nc.say("FinishJob", "jobID: 2");
    expect(await content("GetJob", "name: foo", "fields: all")).toMatchObject({
      finishedChildJobs: [{ jobID: 2, data: { c: 1 } }],
      cancelledChildJobs: [],
    });
  });

  test("a resumed parent is told of its ended children without asking for all fields", async () => {
    await nc.say("CreateJob", "name: foo");
    await nc.say("GetJob", "name: foo");
    for (const name of ["done", "cancelled"])
      await nc.say("CreateJob", `name: ${name}`, 'data: {"c":1}', "parentJobID: 1");
    await nc.say("FinishJob", "jobID: 1");
    await nc.say("GetJob", "name: done");
    await nc.say("FinishJob", "jobID: 2");
    await nc.say("CancelJob", "jobID: 3");
    expect(await content("GetJob", "name: foo")).toEqual({
      jobID: 1,
      name: "foo",
      data: {},
      finishedChildJobs: [{ jobID: 2, data: { c: 1 } }],
      cancelledChildJobs: [{ jobID: 3, data: { c: 1 } }],
    });
  });
});

describe("A10: errors", () => {
  test("401 for what is no JSON", async () => {
    expect(await status("CreateJobs", "jobs: {")).toBe("401 Invalid JSON");
    expect(statusOf(await nc.send("CreateJob\nContent-Length: 3\n\n[1]"))).toBe("401 Invalid JSON");
  });

  test("402 for a bad parameter", async () => {
    expect(await status("CreateJob", "name: foo", "repeat: often")).toBe("402 Malformed repeat");
    expect(await status("Query")).toBe("402 Missing query");
    expect(await status("Query", "query: delete from jobs;")).toBe("402 Malformed query");
  });

  test("404, 405 and 500 as the queue says", async () => {
    await nc.say("CreateJob", "name: foo");
    expect(await status("FinishJob", "jobID: 2")).toBe("404 No job with this jobID");
    expect(await status("FinishJob", "jobID: 1")).toBe("405 Can only retry/finish RUNNING and RUNQUEUED jobs");
    await nc.say("GetJob", "name: foo");
    expect(await status("FinishJob", "jobID: 1", 'data: {"mockRequest":true}')).toBe("500 Mock Mismatch");
  });

  test("whoever is not admitted is told why, and asks nothing", async () => {
    const refused = { code: 401, text: "Unauthorized" };
    const stranger = new WireTalk(queue, {}, () => ({ refused }));
    expect(await stranger.say("CreateJob", "name: foo")).toBe("401 Unauthorized\n\n");
    expect(queue.asked).toEqual([]);
  });
});

test("fields may stand in the content, as a JSON object", async () => {
  const body = JSON.stringify({ Name: "foo", data: { a: 1 }, jobPriority: 1000 });
  await nc.send(`CreateJob / HTTP/1.1\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  expect(await content("QueryJob", "jobID: 1", "fields: all")).toMatchObject({
    name: "foo",
    data: { a: 1 },
    priority: 1000,
  });
});

describe("numbers that JavaScript cannot hold stay as they were written", () => {
  const ID = '{"id":9223372036854775807}';
  const shownBy = async (name: string, ...lines: readonly string[]): Promise<string> => {
    await nc.say(...lines);
    const answer = await nc.say("GetJob", `name: ${name}`, "getMockedJobs: true");
    return answer.slice(answer.indexOf("{"));
  };

  test.each([
    ["in CreateJob", "foo", ["CreateJob", "name: foo", `data: ${ID}`], ID],
    ["in CreateJobs", "foo", ["CreateJobs", `jobs: [{"name":"foo","data":${ID}}]`], ID],
    [
      "beside a key that is ours",
      "foo",
      ["CreateJob", "name: foo", 'data: {"mockRequest":true,"id":9223372036854775807}'],
      '{"mockRequest":true,"id":9223372036854775807}',
    ],
  ] as const)("%s", async (_, name, lines, data) => {
    expect(await shownBy(name, ...lines)).toBe(`{"data":${data},"jobID":1,"name":"foo"}`);
  });

  test("in the content", async () => {
    const body = `{"name":"foo","data":${ID}}`;
    await nc.send(`CreateJob\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    expect(await shownBy("foo", "QueryJob", "jobID: 1")).toBe(`{"data":${ID},"jobID":1,"name":"foo"}`);
  });

  test("in a unique job that is merged, and two that differ in their last digit are two", async () => {
    const unique = ["CreateJob", "name: foo", "unique: true"] as const;
    await nc.say(...unique, `data: ${ID}`);
    await nc.say(...unique, 'data: {"id":9223372036854775806}');
    expect(await shownBy("foo", ...unique, 'data: {"other":1}')).toBe(
      '{"data":{"id":9223372036854775806,"other":1},"jobID":1,"name":"foo"}',
    );
  });
});

describe("a connection for each command", () => {
  const say = (...lines: readonly string[]): Promise<string> => new WireTalk(queue).say(...lines);

  test.each([
    ["FinishJob", "404 No job with this jobID"],
    ["RetryJob", "QUEUED"],
    ["FailJob", "FAILED"],
  ])("after a re-offer the present holder says %s without a lease", async (verb, after) => {
    await say("CreateJob", "name: foo", "retryAfter: +5 SECONDS");
    await say("GetJob", "name: foo");
    await queue.pass(5_000);
    expect(contentOf(await say("GetJob", "name: foo"))).toMatchObject({ jobID: 1, data: { retryAfterCount: 1 } });
    expect(statusOf(await say(verb, "jobID: 1"))).toBe("200 OK");
    const queried = await say("QueryJob", "jobID: 1");
    expect(queried).toContain(after);
  });

  test("a named worker is known over all its connections: the one that was overtaken is refused", async () => {
    await say("CreateJob", "name: foo", "retryAfter: +5 SECONDS");
    await say("GetJob", "name: foo", "worker: w1");
    await queue.pass(5_000);
    await say("GetJob", "name: foo", "worker: w2");
    expect(statusOf(await say("FinishJob", "jobID: 1", "worker: w1"))).toBe("405 This job was given to another worker");
    expect(statusOf(await say("FinishJob", "jobID: 1", "worker: w2"))).toBe("200 OK");
    expect(statusOf(await say("GetJob", "name: foo", `worker: ${"w".repeat(129)}`))).toBe("402 Malformed worker");
  });
});

describe("leases of a connection", () => {
  test("are shown for who holds them: a late end is refused, also when the job was requeued in between", async () => {
    await nc.say("CreateJob", "name: foo");
    await nc.say("GetJob", "name: foo");
    await nc.say("RequeueJobs", "jobIDs: 1");
    const other = new WireTalk(queue);
    expect(contentOf(await other.say("GetJob", "name: foo"))).toMatchObject({ jobID: 1 });
    expect(await status("FinishJob", "jobID: 1")).toBe("405 This job was given to another worker");
    expect(await status("UpdateJob", "jobID: 1", "data: {}")).toBe("405 This job was given to another worker");
    expect(statusOf(await other.say("FinishJob", "jobID: 1"))).toBe("200 OK");
  });

  test("an end that is said again does nothing, and says so; the job is anybody's to change", async () => {
    await nc.say("CreateJob", "name: foo", "repeat: finished, +1 minute");
    await nc.say("GetJob", "name: foo");
    expect(await status("FinishJob", "jobID: 1")).toBe("200 OK");
    expect(await status("FinishJob", "jobID: 1")).toBe("405 Can only retry/finish RUNNING and RUNQUEUED jobs");
    expect(await status("UpdateJob", "jobID: 1", 'data: {"a":1}')).toBe("200 OK");
    await queue.pass(60_000);
    await new WireTalk(queue).say("GetJob", "name: foo");
    expect(await status("FinishJob", "jobID: 1")).toBe("405 This job was given to another worker");
  });

  test.each(["FinishJob", "RetryJob", "FailJob"])("%s of a run that was ended elsewhere is not 200", async (verb) => {
    await nc.say("CreateJob", "name: foo", "repeat: finished, +1 minute");
    const lease = /Lease: (\S+)/.exec(await nc.say("GetJob", "name: foo", "fields: all"))?.[1];
    const other = new WireTalk(queue);
    expect(statusOf(await other.say("FinishJob", "jobID: 1", `lease: ${lease}`, 'data: {"by":"other"}'))).toBe(
      "200 OK",
    );
    expect(await status(verb, "jobID: 1", 'data: {"by":"me"}')).toMatch(/^405 Can only /);
    await renewAll(queue, [nc.conversation.leases]);
    expect(nc.conversation.leases.size).toBe(0);
    expect(await status(verb, "jobID: 1", 'data: {"by":"me"}')).toMatch(/^405 Can only /);
    // Who shows the token has the first answer: it may have been theirs.
    expect(statusOf(await other.say("FinishJob", "jobID: 1", `lease: ${lease}`))).toBe("200 OK");
    expect(contentOf(await other.say("QueryJob", "jobID: 1"))).toMatchObject({ data: { by: "other" } });
  });

  test("an end whose answer did not come in time may be said again, and gets the answer", async () => {
    await nc.say("CreateJob", "name: foo");
    await nc.say("GetJob", "name: foo");
    let speak: () => void = () => undefined;
    queue.silence = new Promise((resolve) => (speak = resolve));
    const late = status("FinishJob", "jobID: 1", "timeout: 1000");
    await queue.pass(1_000);
    expect(await late).toBe("555 Timeout");
    speak();
    queue.silence = null;
    await queue.pass(0);
    expect(await status("FinishJob", "jobID: 1")).toBe("200 OK");
    expect(await status("QueryJob", "jobID: 1")).toBe("404 No job with this jobID");
  });

  test("who is gone when the job comes has not taken it", async () => {
    await nc.say("CreateJob", "name: foo");
    let speak: () => void = () => undefined;
    queue.silence = new Promise((resolve) => (speak = resolve));
    const asked = nc.say("GetJob", "name: foo");
    nc.close();
    speak();
    await asked;
    queue.silence = null;
    expect(contentOf(await new WireTalk(queue).say("QueryJob", "jobID: 1"))).toMatchObject({ state: "QUEUED" });
  });

  test("who has said everything does not wait for jobs to appear", async () => {
    nc.end();
    expect(await status("GetJob", "name: foo", "connection: wait")).toBe("404 No job found");
  });
});
