/**
 * The document's sample session, as printed, by a clock that is set by hand. Where the document's print cannot be true it is
 * not repeated: two of its content lengths, the data in its list (which is older than what the next worker gets), and
 * there a time to run again that lies a minute after the creation, though the job counts from its finish.
 */
import { expect, test } from "@jest/globals";
import { MemoryQueue } from "./support/memory-queue.ts";
import { WireTalk } from "./support/wire-talk.ts";

test("the document's sample session works as printed", async () => {
  const queue = new MemoryQueue("2014-12-29 07:38:51");
  const nc = new WireTalk(queue);

  expect(await nc.say("CreateJob", "name: foo", 'data: {"value":1}', "repeat: finished, +1 minute")).toBe(
    '200 OK\nContent-Length: 11\n\n{"jobID":1}',
  );
  await queue.pass(13_000);
  expect(await nc.say("GetJob", "name: foo")).toBe(
    '200 OK\nContent-Length: 43\n\n{"data":{"value":1},"jobID":1,"name":"foo"}',
  );
  expect(await nc.say("UpdateJob", "jobID: 1", 'data: {"value":2}')).toBe("200 OK\n\n");
  expect(await nc.say("QueryJob", "jobID: 1")).toBe(
    '200 OK\nContent-Length: 61\n\n{"data":{"value":2},"jobID":1,"name":"foo","state":"RUNNING"}',
  );
  await queue.pass(2_000);
  expect(await nc.say("FinishJob", "jobID: 1", 'data: {"value":3}')).toBe("200 OK\n\n");
  expect(await nc.say("GetJob", "name: foo")).toBe("404 No job found\n\n");
  expect(await nc.say("Query", "query: select * from jobs;")).toBe(
    "200 OK\nContent-Length: 120\n\n" +
      '[["2014-12-29 07:38:51",1,"QUEUED","foo","2014-12-29 07:40:06","2014-12-29 07:39:04","finished, +1 minute",{"value":3}]]',
  );
  await queue.pass(59_999);
  expect(await nc.say("GetJob", "name: foo")).toBe("404 No job found\n\n");
  await queue.pass(1);
  expect(await nc.say("GetJob", "name: foo")).toBe(
    '200 OK\nContent-Length: 43\n\n{"data":{"value":3},"jobID":1,"name":"foo"}',
  );
});

test("a worker that waits is given the job the moment it comes", async () => {
  const queue = new MemoryQueue();
  const nc = new WireTalk(queue);
  const waiting = new WireTalk(queue).say("GetJob", "name: foo", "Connection: wait", "Timeout: 60000");
  await queue.pass(59_000);
  await nc.say("CreateJob", "name: foo");
  expect(await waiting).toContain('{"data":{},"jobID":1,"name":"foo"}');
});
