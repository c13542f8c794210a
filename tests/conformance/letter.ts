/** Sentences of the documents that an earlier version read loosely, one case each: a connection for each command, default fields. */
import { expect } from "@jest/globals";
import { connect } from "node:net";
import { type Case, GONE, msOf, NO_JOB, OK } from "./case.ts";
import { good, type Rest } from "./rest.ts";
import type { Address } from "./talk.ts";
import { Client } from "./upstream/client.ts";

/** As `nc` shows it: what is sent ends its lines with LF, and lines of the answer are printed as they come. */
export async function session({ tcp }: Address, ...requests: readonly string[]): Promise<readonly string[]> {
  const socket = connect({ port: tcp, host: "127.0.0.1" });
  const answers: string[] = [];
  let received = "";
  try {
    for (const request of requests) {
      socket.write(`${request}\n\n`);
      for (;;) {
        const end = received.indexOf("\n\n");
        const length = Number(/Content-Length: (\d+)/.exec(received.slice(0, Math.max(0, end)))?.[1] ?? 0);
        if (end >= 0 && received.length >= end + 2 + length) {
          answers.push(received.slice(0, end + 2 + length));
          received = received.slice(end + 2 + length);
          break;
        }
        received += await new Promise<string>((resolve) =>
          socket.once("data", (chunk: Buffer) => resolve(chunk.toString().replaceAll("\r\n", "\n"))),
        );
      }
    }
    return answers;
  } finally {
    socket.destroy();
  }
}

/**
 * As printed, but for what cannot be true there: two lengths that do not fit their content, data in the list that are older than
 * what the next worker gets, and the times of the day on which it was written.
 */
export async function sampleSession(address: Address): Promise<void> {
  const answers = await session(
    address,
    'CreateJob\nname: foo\ndata: {"value":1}\nrepeat: finished, +1 minute',
    "GetJob\nname: foo",
    'UpdateJob\njobID: 1\ndata: {"value":2}',
    "QueryJob\njobID: 1",
    'FinishJob\njobID: 1\ndata: {"value":3}',
    "GetJob\nname: foo",
    "Query\nquery: select * from jobs;",
  );
  expect(answers.slice(0, -1)).toEqual([
    '200 OK\nContent-Length: 11\n\n{"jobID":1}',
    '200 OK\nContent-Length: 43\n\n{"data":{"value":1},"jobID":1,"name":"foo"}',
    "200 OK\n\n",
    '200 OK\nContent-Length: 61\n\n{"data":{"value":2},"jobID":1,"name":"foo","state":"RUNNING"}',
    "200 OK\n\n",
    "404 No job found\n\n",
  ]);
  const time = "(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d)";
  const row = new RegExp(
    `^200 OK\\nContent-Length: 120\\n\\n\\[\\["${time}",1,"QUEUED","foo","${time}","${time}","finished, \\+1 minute",\\{"value":3\\}\\]\\]$`,
  );
  const [, created, nextRun, lastRun] = row.exec(answers.at(-1) ?? "") ?? [];
  expect(msOf(lastRun)).toBeGreaterThanOrEqual(msOf(created));
  expect(msOf(nextRun) - msOf(lastRun)).toBeGreaterThanOrEqual(60_000);
  // A minute later, which is brought about instead of waited for.
  const again = await session(
    address,
    "UpdateJob\njobID: 1\nnextRun: 2014-12-29 07:39:51",
    "GetJob\nname: foo\nConnection: wait\nTimeout: 60000",
    "FailJob\njobID: 1",
    "DeleteJob\njobID: 1",
  );
  expect(again[1]).toBe('200 OK\nContent-Length: 43\n\n{"data":{"value":3},"jobID":1,"name":"foo"}');
  expect(again.at(-1)).toBe("200 OK\n\n");
}

const play = (says: string, run: (me: Client) => Promise<void>): Case => ({
  says,
  run: (stage) => run(new Client(stage)),
});
const OVERTAKEN = "405 This job was given to another worker";

export const LETTER: Readonly<Record<string, Case>> = {
  retryAfter: play(
    "a job belongs to its taker until nextRun, whose connection closed at once; at nextRun it is offered again",
    async (me) => {
      const jobID = await me.running({ retryAfter: "+1 HOUR" });
      const { nextRun, lastRun } = await me.seen(jobID);
      expect(msOf(nextRun) - msOf(lastRun)).toBe(3_600_000);
      expect(await me.status("GetJob", { name: me.stage.name() })).toBe(NO_JOB);
      await me.makeDue(jobID);
      expect((await me.get()).jobID).toBe(jobID);
    },
  ),
  holder: play(
    "after a re-offer the present holder ends the job over a new connection; who names itself and was overtaken does not",
    async (me) => {
      for (const verb of ["FinishJob", "RetryJob", "FailJob"]) {
        const name = me.stage.name(verb);
        const jobID = await me.create({ name, retryAfter: "+1 HOUR" });
        await me.get(name, { worker: "first" });
        await me.makeDue(jobID);
        await me.get(name, { worker: "second" });
        expect(await me.status(verb, { jobID, worker: "first" })).toBe(OVERTAKEN);
        expect(await me.status(verb, { jobID })).toBe(OK);
      }
    },
  ),
  retryAfterCount: play("is 0, which is not shown, at the first GetJob", async (me) => {
    const jobID = await me.create({ retryAfter: "+0 SECONDS" });
    expect(await me.get()).toEqual({ jobID, name: me.stage.name(), data: {} });
    expect(await me.get()).toEqual({ jobID, name: me.stage.name(), data: { retryAfterCount: 1 } });
  }),
  unique: play("1 is true; the same data bring a new repeat and priority", async (me) => {
    const jobID = await me.create({ unique: 1, data: '{"a":1}', repeat: "DAILY" });
    expect(await me.create({ unique: 1, data: '{"a":1}', repeat: "HOURLY", jobPriority: 1000 })).toBe(jobID);
    expect(await me.seen(jobID)).toMatchObject({ repeat: "HOURLY", priority: 1000 });
    const again = await me.create({ name: me.stage.name("again"), retryAfter: "+1 HOUR" });
    const both = { name: me.stage.name("again"), unique: 1, repeat: "HOURLY" };
    expect(await me.status("CreateJob", both)).toBe("402 retryAfter cannot be combined with repeat");
    expect((await me.seen(again))["repeat"]).toBe("");
  }),
  CancelJob: play("cancels what is not yet RUNNING, alone or child, and refuses the rest with 405", async (me) => {
    const alone = await me.create();
    await me.ok("CancelJob", { jobID: alone });
    const { parent, ids } = await me.parentOf("paused", "other");
    await me.ok("CancelJob", { jobID: ids[0] });
    expect(await me.states([alone, ...ids])).toEqual(["CANCELLED", "CANCELLED", "PAUSED"]);
    const refused = "405 Can only cancel jobs that have not yet changed to RUNNING";
    const running = await me.running({ name: me.stage.name("running") });
    expect(await me.status("CancelJob", { jobID: running })).toBe(refused);
    await me.ok("FailJob", { jobID: running });
    expect(await me.status("CancelJob", { jobID: running })).toBe(refused);
    expect(await me.state(parent)).toBe("RUNNING");
  }),
  GetJobs: play("without numResults dequeues exactly one job", async (me) => {
    const ids = [await me.create(), await me.create()];
    const { content } = await me.ok("GetJobs", { name: me.stage.name() });
    expect(content).toEqual({ jobs: [{ jobID: ids[0], name: me.stage.name(), data: {} }] });
  }),
  CrashBedrockJob: play("takes `names`, with commas", async (me) => {
    const [a, b] = [me.stage.name("a"), me.stage.name("b")];
    await me.ok("CrashBedrockJob", { names: `${a},${b}` });
    const ids = [await me.create({ name: a }), await me.create({ name: b })];
    for (const name of [a, b]) expect((await me.ok("GetJob", { name })).content).toEqual({});
    expect(await me.states(ids)).toEqual(["FAILED", "FAILED"]);
    await me.ok("ClearCrashedBedrockJobs");
  }),
  RequeueJobs: play("sets nextRun in whole seconds: the text of `created`", async (me) => {
    const jobID = await me.running();
    await me.ok("RequeueJobs", { jobIDs: jobID });
    const { created, nextRun } = await me.seen(jobID);
    expect(nextRun).toBe(created);
  }),
};

/** Whatever showed the job before finds nothing of it, at either process. */
export async function leavesNoTrace(me: Client, rest: Rest): Promise<void> {
  const secret = "a secret";
  const container = { name: "container", data: { Container: { Config: "" }, Fileset: {}, note: secret } };
  for (const { name, data } of [{ name: me.stage.name(), data: { note: secret } }, container]) {
    const jobID = await me.create({ name, data: JSON.stringify(data) });
    await me.get(name);
    await me.ok("RetryJob", { jobID, exitCode: 500, result: secret });
    await me.get(name);
    await me.ok("FinishJob", { jobID, exitCode: 200, result: secret });
    const tenant = "/v1/tenants/default";
    const places = [`${tenant}/jobs/${jobID}`, `${tenant}/jobs/${jobID}/result`];
    if (name === "container") places.push(`/v2/keys/jobs/${jobID}`);
    for (const place of places) expect([place, (await rest("GET", place)).status]).toEqual([place, 200]);
    await me.ok("DeleteJob", { jobID });
    for (const place of [...places, ...places])
      expect([place, (await rest("GET", place)).status]).toEqual([place, 404]);
    const { items } = await good<{ readonly items: readonly { readonly jobID: number }[] }>(
      rest("GET", `${tenant}/runs?name=${name}`),
    );
    expect(items.filter((run) => run.jobID === jobID)).toEqual([]);
    for (const verb of ["QueryJob", "DescribeJob", "DeleteJob"]) expect(await me.status(verb, { jobID })).toBe(GONE);
  }
}
