/** The serverless document's jobs, mapped to the one model. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { isStatus } from "@sluice/job-queue";
import { payloadOf, payloadsOf, printIds, readAdding } from "../src/serverless/jobs.ts";
import { portsOf } from "./support/http-door.ts";
import { MemoryQueue } from "./support/memory-queue.ts";

let queue: MemoryQueue;
beforeEach(() => {
  queue = new MemoryQueue();
});

async function add(client: string, type: string, body: string): Promise<string> {
  const payloads = readAdding(client, type, body);
  if (isStatus(payloads)) return `${payloads.code} ${payloads.text}`;
  return printIds(await portsOf(queue).addLines({ tenant: client, name: type }, payloads));
}

async function dataOf(id: number, tenant = "default"): Promise<string | null> {
  const answer = await queue.ask(tenant, { verb: "QueryJob", tenant, id });
  return answer?.content.kind === "job" ? answer.content.job.data : null;
}

describe("M1: a payload per line", () => {
  test("answers the ids in order; blank lines are skipped", async () => {
    expect(await add("default", "resize", 'one\n\n{"two":2}\r\n  \nthree|3')).toBe("1\n2\n3\n");
    expect(payloadOf((await dataOf(2))!)).toBe('{"two":2}');
    expect(payloadOf((await dataOf(3))!)).toBe("three|3");
  });

  test("a payload is any text, spaces and all", () => {
    expect(payloadsOf(' a "b" \\ ü \n')).toEqual([' a "b" \\ ü ']);
  });

  test("nothing to add is refused", async () => {
    expect(await add("default", "resize", "\n \n")).toBe("402 Missing payload");
  });

  test("a job of another door has no payload", () => {
    for (const data of ["{}", '{"payload":1}']) expect(payloadOf(data)).toBeNull();
  });
});

describe("M2: client and type are tenant and name", () => {
  test("a client's job is nobody else's", async () => {
    await add("default", "resize", "x");
    expect(await dataOf(1)).not.toBeNull();
    expect(await dataOf(1, "other")).toBeNull();
  });

  test.each(["A", "a/b", "", "a b"])("%j is no client", async (client) => {
    expect(await add(client, "resize", "x")).toBe("402 Malformed client");
  });
});

test.each(["a,b", "a|b", "a b", "a/b", ""])("M8: %j is no type", async (type) => {
  expect(await add("default", type, "x")).toBe("402 Malformed type");
});

test("M3: a version is part of the type's name", async () => {
  expect(await add("default", "resize-v2", "x")).toBe("1\n");
});
