/** Every line of the three documents that job-apis keep, with two of them that take turns; Bedrock's at both doors. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { openJobs } from "@sluice/job-client";
import { waitFor } from "@sluice/testkit";
import { BEDROCK } from "./bedrock/all.ts";
import { type Bench, startBench } from "./bench.ts";
import type { Stage } from "./case.ts";
import { ETCD } from "./etcd.ts";
import { leavesNoTrace, LETTER, sampleSession } from "./letter.ts";
import { restOf } from "./rest.ts";
import { SERVERLESS } from "./serverless.ts";
import { type Talk, talkByCommand, talkOverHttp, talkOverTcp } from "./talk.ts";
import { UPSTREAM } from "./upstream/all.ts";
import { Client } from "./upstream/client.ts";

const DOORS = { TCP: talkOverTcp, HTTP: talkOverHttp } as const;

let bench: Bench;
const talks: Talk[] = [];
beforeAll(async () => void (bench = await startBench()));
afterAll(() => bench.stop());
afterEach(() => talks.splice(0).forEach((talk) => talk.hangUp()));

const rows = <C extends { readonly says: string }>(cases: Readonly<Record<string, C>>) =>
  Object.entries(cases).map(([line, each]) => [`${line} ${each.says}`, line, each] as const);

test("the sample session of Bedrock's document, byte for byte", () => sampleSession(bench.processes[0]!));

describe.each(["TCP", "HTTP"] as const)("Bedrock over %s", (door) => {
  const stageOf = (line: string): Stage => {
    const another = (): Talk => {
      const talk = DOORS[door](bench.processes);
      talks.push(talk);
      return talk;
    };
    return { talk: another(), door, another, name: (part = "job") => `${door}-${line}-${part}` };
  };
  test.each(rows(BEDROCK))("%s", (_, line, { run }) => run(stageOf(line)));
});

const byCommand = (prefix: string): Stage => {
  const another = (): Talk => {
    const talk = talkByCommand(bench.processes);
    talks.push(talk);
    return talk;
  };
  const name = (part = "job"): string => `${prefix.replaceAll(/[^\w]/g, "-")}-${part}`;
  return { talk: another(), door: "TCP", another, name };
};

describe("upstream's cases, a connection for each command, in default fields", () => {
  test.each(Object.entries(UPSTREAM))("%s", (name, { run }) => run(byCommand(name)));
});

describe("to the letter, a connection for each command, in default fields", () => {
  test.each(rows(LETTER))("%s", (_, line, { run }) => run(byCommand(`letter-${line}`)));
  test("DeleteJob removes all trace of a job, for Bedrock's clients, the HTTP API and etcd's", () =>
    leavesNoTrace(new Client(byCommand("letter-DeleteJob")), restOf(bench.processes)));
});

describe("etcd", () => {
  test.each(rows(ETCD))("%s", (_, line, { run }) => run(restOf(bench.processes), `etcd-${line.toLowerCase()}`));
});

describe("serverless", () => {
  test.each(rows(SERVERLESS))("%s", (_, line, { run }) =>
    run({
      rest: restOf(bench.processes),
      client: `client-${line.toLowerCase()}`,
      logLines: () => bench.logLines(),
      archiveFolder: bench.archiveFolder,
    }),
  );
});

/** Last: it costs one of the processes. */
describe("over a crash", () => {
  /** By each process one. */
  const madeBefore: unknown[] = [];
  test("M20 every accepted job reaches its end, though a process is killed while they are worked on", async () => {
    const before = talkByCommand(bench.processes);
    for (let n = 0; n < 2; n++)
      madeBefore.push(
        ((await before.ask("CreateJob", { name: "job-id" })).content as { readonly jobID: number }).jobID,
      );
    const [first, second] = bench.processes.map(({ http }) => http);
    const [tenant, urls] = ["client-m20", [first!, second!]] as const;
    const [jobs, daemon] = [openJobs({ urls, tenant }), openJobs({ urls })];
    const made = await jobs.createJobs(Array.from({ length: 60 }, () => ({ name: "mail" })));
    if (!made.ok) throw new Error(JSON.stringify(made));
    const begun = new Set<number>();
    const options = { tenant, concurrency: 4, pollMs: 2_000 };
    const worker = daemon.work("mail", ({ jobID }) => begun.add(jobID).size, options);
    await waitFor(() => begun.size >= 10);
    await bench.processes[1]?.child.kill("SIGKILL");
    const ended = new Set<number>();
    await waitFor(async () => {
      const runs = await jobs.runs({ limit: 200 });
      for (const { jobID, exit } of runs.ok ? runs.value.items : []) if (exit === 200) ended.add(jobID);
      return ended.size === made.value.length;
    });
    expect([...ended].sort((a, b) => a - b)).toEqual(made.value);
    await worker.stop();
    await Promise.all([jobs.close(), daemon.close()]);
  });

  test("JobID::test: ids stay unique when a process is gone, and another serves the jobs of both", async () => {
    const [first] = bench.processes;
    const talk = talkByCommand([first!]);
    talks.push(talk);
    const idOf = async (): Promise<unknown> =>
      ((await talk.ask("CreateJob", { name: "job-id" })).content as { readonly jobID: number }).jobID;
    const ids = [...madeBefore, await idOf(), await idOf()];
    expect(new Set(ids).size).toBe(4);
    const { content } = await talk.ask("GetJobs", { name: "job-id", numResults: 4 });
    const { jobs } = content as { readonly jobs: readonly { readonly jobID: unknown }[] };
    expect(new Set(jobs.map(({ jobID }) => jobID))).toEqual(new Set(ids));
  });

  test("the queue's invariants held at every transaction", () => {
    expect(bench.faults()).toEqual([]);
  });
});
