/** What is too large for the tree, and a disk that is full or cannot be read. */
import { beforeEach, expect, test } from "@jest/globals";
import type { BlobRef, Command } from "@sluice/job-queue";
import { queueWithBlobs } from "../src/large-queue.ts";
import type { Answer } from "../src/queue-port.ts";
import { MemoryQueue } from "./support/memory-queue.ts";
import { statusOf, WireTalk } from "./support/wire-talk.ts";

class Disk {
  readonly held = new Map<string, Buffer>();
  problem: Error | null = null;

  put(bytes: Buffer): Promise<BlobRef> {
    if (this.problem !== null) return Promise.reject(this.problem);
    const sha256 = String(this.held.size).padStart(64, "0");
    this.held.set(sha256, bytes);
    return Promise.resolve({ sha256, bytes: bytes.length });
  }

  get({ sha256 }: BlobRef): Promise<Buffer | null> {
    return this.problem === null ? Promise.resolve(this.held.get(sha256) ?? null) : Promise.reject(this.problem);
  }
}

class QueueOfDisk extends MemoryQueue {
  readonly #queue = queueWithBlobs(
    {
      ask: (tenant, command) => super.ask(tenant, command),
      wait: (tenant, command, ms, gone) => super.wait(tenant, command, ms, gone),
    },
    disk,
    (error) => errors.push(String(error)),
  );

  override ask(tenant: string, command: Command): Promise<Answer> {
    return this.#queue.ask(tenant, command);
  }
}

const LARGE = JSON.stringify({ x: "x".repeat(70_000) });
let disk: Disk;
let talk: WireTalk;
let errors: string[];

beforeEach(() => {
  [disk, errors] = [new Disk(), []];
  talk = new WireTalk(new QueueOfDisk());
});

const create = async (name: string, data = "{}"): Promise<string> =>
  talk.say("CreateJob", `name: ${name}`, `data: ${data}`);
test("on a full disk only the command that needs it fails, and leaves nothing behind", async () => {
  disk.problem = new Error("ENOSPC");
  expect(statusOf(await create("large", LARGE))).toBe("503 What is this large cannot be stored just now");
  expect(errors).toEqual(["Error: ENOSPC"]);
  expect(statusOf(await create("small"))).toBe("200 OK");
  const all = await talk.say("Query", "query: select * from jobs;");
  expect(all).toContain("small");
  expect(all).not.toContain("large");
  disk.problem = null;
  expect(statusOf(await create("large", LARGE))).toBe("200 OK");
  expect(await talk.say("GetJob", "name: large")).toContain("x".repeat(70_000));
});

test("data that cannot be read costs nobody else the jobs that were taken with them", async () => {
  await create("large", LARGE);
  await create("small");
  disk.problem = new Error("EIO");
  const taken = await talk.say("GetJobs", "name: *", "numResults: 2");
  expect(statusOf(taken)).toBe("200 OK");
  expect(taken).toContain('"name":"small"');
  expect(taken).not.toContain('"name":"large"');
  expect(errors).toEqual(["Error: EIO"]);
});
