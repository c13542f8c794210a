/** Commands whose changes would not fit into one transaction, on a real ZooKeeper. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { testZooKeeper } from "@sluice/testkit";
import type { ShardOwner } from "../src/owner/owner.ts";
import type { IngestAdds } from "../src/shard/commands.ts";
import { command, idOf, startProcess, takenOf, type Process } from "./support/owners.ts";

let process: Process;
let owner: ShardOwner;

beforeEach(async () => {
  process = await startProcess((await testZooKeeper()).connect, "api-1");
  owner = await process.own();
});
afterEach(() => process.close());

const LARGE = "x".repeat(55_000);
const names = Array.from({ length: 12 }, (_, n) => `unique-${n}`);
const unique = (name: string, data: object): object => ({ name, unique: true, data });

async function makeLargeOnes(): Promise<void> {
  for (const name of names)
    await owner.ask(command("CreateJobs", { jobs: JSON.stringify([unique(name, { large: LARGE })]) }));
}

const dataOf = async (by: ShardOwner, name: string): Promise<unknown> => {
  const listed = await by.ask({ verb: "ListJobs", tenant: "default", names: [name] });
  return listed?.content.kind === "list" ? listed.content.jobs.map(({ data }) => JSON.parse(data) as unknown) : null;
};

test("small changes of many large unique jobs are written in parts", async () => {
  await makeLargeOnes();
  const jobs = JSON.stringify(names.map((name) => unique(name, { more: 1 })));
  expect((await owner.ask(command("CreateJobs", { jobs })))?.status.code).toBe(200);
  expect(owner.over.aborted).toBe(false);
  const next = await process.own();
  for (const name of names) expect(await dataOf(next, name)).toEqual([{ large: LARGE, more: 1 }]);
});

test("an end that asks for more than one transaction holds is refused, and costs nobody else anything", async () => {
  await makeLargeOnes();
  const id = idOf(await owner.ask(command("CreateJob", { name: "end" })));
  const { token } = takenOf(await owner.ask(command("GetJob", { name: "end" })))!;
  const finish = (count: number) =>
    command("FinishJob", {
      jobID: id,
      lease: token,
      then: JSON.stringify(names.slice(0, count).map((name) => unique(name, { more: 1 }))),
    });
  expect((await owner.ask(finish(12)))?.status).toMatchObject({ code: 402, text: "Malformed then" });
  expect(owner.over.aborted).toBe(false);
  expect((await owner.ask(finish(2)))?.status.code).toBe(200);
  expect(await dataOf(await process.own(), names[0]!)).toEqual([{ large: LARGE, more: 1 }]);
});

test("a journal's many large jobs are taken in in parts, each once", async () => {
  const reserved = await owner.ask({ verb: "ReserveIds", guest: "api-7" });
  if (reserved?.content.kind !== "block") throw new Error("no block");
  const { first } = reserved.content;
  const template = command("CreateJob", { name: "journalled", data: JSON.stringify({ large: LARGE }) });
  if (template.verb !== "CreateJobs") throw new Error(template.verb);
  const jobs = Array.from({ length: 20 }, (_, n) => ({
    id: first + n,
    tenant: "default",
    at: 1_700_000_000_000,
    job: template.jobs[0]!,
  }));
  const ingest: IngestAdds = { verb: "IngestAdds", guest: "api-7", file: "a", offset: 7, after: 0, jobs };
  expect((await owner.ask(ingest))?.status.code).toBe(200);
  expect(owner.over.aborted).toBe(false);
  const next = await process.own();
  expect((await next.ask(ingest))?.status.code).toBe(200);
  expect(next.size).toBe(20);
});

test("container jobs with large data, to which their states go with each move, are taken and given back", async () => {
  for (const name of names)
    await owner.ask(command("CreateJob", { name: "container", data: JSON.stringify({ name, large: LARGE }) }));
  const taken = await owner.ask(command("GetJobs", { name: "container", numResults: 12 }));
  expect(taken?.content).toMatchObject({ kind: "taken", jobs: { length: 12 } });
  const released = await owner.ask({ verb: "ReleaseWorker", worker: "w" });
  expect(released?.content).toMatchObject({ kind: "released", ids: { length: 12 } });
  expect(owner.over.aborted).toBe(false);
  expect((await process.own()).size).toBe(12);
});
