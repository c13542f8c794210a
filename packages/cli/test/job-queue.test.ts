/** The general job queue from a terminal, against a real job-api. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, startBench } from "../../../tests/conformance/bench.ts";
import { type BadJob, plantBadJob } from "../../../tests/support/job-queue/bad-record.ts";
import { toJobs } from "../src/command.ts";
import { COMMANDS } from "../src/commands/all.ts";
import { connectSession } from "@sluice/zookeeper";
import { type Played, sluice, type Stage } from "./support.ts";

let bench: Bench;
let bad: BadJob;
let folder: string;
let tenant = "";
let tests = 0;
beforeAll(async () => {
  bench = await startBench(1, async (connect) => void (bad = await plantBadJob(connect, "odd", "mail")));
  folder = await mkdtemp(join(tmpdir(), "sluice-cli-jobs-"));
});
afterAll(async () => {
  await bench.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => void (tenant = `cli-${++tests}`));

const url = (): string => bench.processes[0]?.http ?? "";
const olga = (line: string, stage: Stage = {}): Promise<Played> =>
  sluice(line, { cwd: folder, ...stage, env: { SLUICE_JOBS_URL: url(), ...stage.env } });
const mine = (line: string, stage: Stage = {}): Promise<Played> => olga(`${line} --tenant ${tenant}`, stage);

/** Every change says why. */
const act = (line: string, stage: Stage = {}): Promise<Played> => mine(`${line} --reason "for the test"`, stage);
const actAsOlga = (line: string): Promise<Played> => olga(`${line} --reason "for the test"`);

async function create(words: string): Promise<string> {
  const { code, out, err } = await act(`q create ${words} -o name`);
  expect([code, err]).toEqual([0, ""]);
  return out.trim();
}
async function take(name: string): Promise<{ readonly jobID: number; readonly lease: string }> {
  const answer = await fetch(`${url()}/v1/tenants/${tenant}/commands/GetJob`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name, worker: `runner-${tenant}` }),
  });
  return (await answer.json()) as { jobID: number; lease: string };
}
const stateOf = async (id: string): Promise<string> =>
  (JSON.parse((await mine(`q show ${id} -o json`)).out) as { state: string }).state;

describe("jobs", () => {
  test("are created, listed and shown as table, wide, json, yaml and names", async () => {
    const [first, second] = [await create('mail --data "{}"'), await create("report --job-priority 1000")];
    expect((await mine("q list -o name")).out).toBe(`${first}\n${second}\n`);
    const table = (await mine("q list")).out.split("\n");
    expect(table[0]).toMatch(/^ *ID +STATE +NAME +PRI +NEXT RUN$/);
    expect(table[2]).toMatch(new RegExp(`^ *${second} +QUEUED +report +1000 `));
    expect((await mine("q list -o wide")).out).toContain("REPEAT");
    expect((await mine('q list --name "ma*" -o name')).out).toBe(`${first}\n`);
    expect((await mine("q list --job-state FAILED")).err).toContain("No such jobs.");
    expect((await mine(`q show ${first} -o yaml`)).out).toContain("name: mail\n");
    expect((await mine(`q show ${first}`)).out).toMatch(/^State: +QUEUED$/m);
    expect((await mine("q list --limit 1")).err).toContain("There are more");
    expect((await olga("tenant list -o name")).out.split("\n")).toContain(tenant);
    expect((await mine("q types")).out).toMatch(/^mail +1 +1 /m);
  });

  test("are read from a file, and counted from the time that is said", async () => {
    await writeFile(join(folder, "data.json"), '{"from":"a file"}');
    const id = await create("mail --data @data.json --first-run 2h");
    const shown = JSON.parse((await mine(`q show ${id} -o json`)).out) as { data: object; nextRun: string };
    expect(shown.data).toEqual({ from: "a file" });
    expect(Date.parse(shown.nextRun)).toBeGreaterThan(Date.now() + 7_000_000);
    const typed = await act("q create mail --data - -o name", { stdin: '{"from":"stdin"}' });
    expect((await mine(`q show ${typed.out.trim()}`)).out).toContain('{"from":"stdin"}');
  });

  test("whose records cannot be read are FAILED, and shown with the reason and the bytes", async () => {
    expect((await olga("q list --tenant odd --job-state FAILED -o name")).out).toBe(`${bad.id}\n`);
    const { out } = await olga(`q show ${bad.id} --tenant odd`);
    expect(out).toMatch(/^Unreadable: +job.*lane/m);
    expect(out).toContain(JSON.stringify(bad.text));
    const asJson = JSON.parse((await olga(`q show ${bad.id} --tenant odd -o json`)).out) as object;
    expect(asJson).toMatchObject({ name: "mail", unreadable: { bytes: bad.text } });
    expect((await actAsOlga(`q delete ${bad.id} --tenant odd --yes`)).code).toBe(0);
  });

  test("are changed: data, priority, next run; without new data those that are there stay", async () => {
    const id = await create('mail --data "{}"');
    expect((await act(`q update ${id}`)).code).toBe(64);
    const dry = await mine(`q update ${id} --job-priority 1000 --dry-run`);
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining("would change")]);
    expect((await act(`q update ${id} --job-priority 1000 --next-run 2100-01-01`)).code).toBe(0);
    const shown = JSON.parse((await mine(`q show ${id} -o json`)).out) as Record<string, unknown>;
    expect(shown).toMatchObject({ priority: 1000, nextRun: "2100-01-01T00:00:00.000Z", data: {} });
  });

  test("that run are failed or taken back; what has failed is queued again; what waits is deleted", async () => {
    const id = await create("mail");
    await take("mail");
    expect((await act(`q delete ${id} --yes`)).code).toBe(4);
    const unasked = await act(`q fail ${id}`);
    expect([unasked.code, unasked.err]).toEqual([64, expect.stringContaining("--yes")]);
    expect((await act(`q fail ${id}`, { answers: [id] })).code).toBe(0);
    expect(await stateOf(id)).toBe("FAILED");
    expect((await act(`q requeue ${id}`)).code).toBe(0);
    expect(await stateOf(id)).toBe("QUEUED");
    await take("mail");
    expect((await act(`q retry ${id} --delay 1h`)).code).toBe(0);
    const dry = await mine(`q delete ${id} --dry-run`);
    expect([dry.code, await stateOf(id)]).toEqual([0, "QUEUED"]);
    expect((await act(`q delete ${id} --yes`)).code).toBe(0);
    expect((await act(`q delete ${id} 999999999 --yes`)).code).toBe(3);
    expect((await mine("q show mail")).code).toBe(64);
    const unwanted = await create("mail");
    expect((await act(`q cancel ${unwanted} --yes`)).code).toBe(0);
    expect(await stateOf(unwanted)).toBe("CANCELLED");
    const running = await create("mail");
    await take("mail");
    expect((await act(`q cancel ${running} --yes`)).code).toBe(4);
  });

  test("that have ended are shown with their result, and in the list of runs", async () => {
    const id = await create("mail");
    const { lease } = await take("mail");
    await fetch(`${url()}/v1/tenants/${tenant}/commands/FinishJob`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jobID: Number(id), lease, exitCode: 201, result: "sent" }),
    });
    expect((await mine(`q show ${id}`)).out).toMatch(/^State: +FINISHED$/m);
    expect((await mine(`q result ${id}`)).out).toBe("sent\n");
    expect((await mine("q runs")).out).toMatch(new RegExp(`^ *${id} .* mail +201 +ok +runner-${tenant} +sent`, "m"));
  });
});

describe("schedules", () => {
  test("are set, paused, resumed and ended", async () => {
    const id = await create('report --repeat "finished, +1 day"');
    expect((await mine("schedule list")).out).toContain("finished, +1 day");
    expect((await act(`schedule set ${id} --repeat "FINISHED, +2 DAYS" --next-run 3h`)).code).toBe(0);
    expect((await act(`schedule set ${id} --repeat often`)).code).toBe(64);
    expect((await act(`schedule pause ${id}`)).code).toBe(0);
    expect((await mine("schedule list")).out).toMatch(/paused +report +never /);
    expect((await act(`schedule resume ${id}`)).code).toBe(0);
    await take("report");
    expect((await act(`schedule pause ${id}`)).code).toBe(4);
    expect((await act(`schedule end ${id} --yes`)).code).toBe(0);
    expect((await mine("schedule list")).err).toContain("Nothing repeats.");
    expect((await act(`schedule pause ${await create("mail")}`)).code).toBe(4);
  });
});

describe("handlers and runners", () => {
  test("a handler is added in versions, shown, listed and deleted", async () => {
    await writeFile(join(folder, "mail.js"), "return 200;");
    await writeFile(join(folder, "mail.yaml"), "lang: node\nbody: return 201;\ntimeoutMs: 5000\n");
    await writeFile(join(folder, "wrong.yaml"), "lang: COBOL 85\nbody: STOP RUN.\n");
    expect((await act("handler add mail mail.js --lang node")).out).toContain("is at version 1");
    expect((await act("handler add mail mail.yaml")).out).toContain("is at version 2");
    const wrong = await act("handler add mail wrong.yaml");
    expect([wrong.code, wrong.err]).toEqual([64, expect.stringContaining("lang")]);
    expect((await mine("handler list -o name")).out.trim().split("\n").sort()).toEqual(["mail@1", "mail@2"]);
    expect((await mine("handler show mail")).out).toContain("return 201;");
    expect((await mine("handler show mail --of-version 1")).out).toContain("return 200;");
    expect((await act("handler delete mail")).code).toBe(64);
    expect((await act("handler delete mail", { answers: ["mail"] })).out).toContain("mail@1");
    expect((await mine("handler show mail")).code).toBe(3);
  });

  test("the jobs of a runner are given back", async () => {
    const id = await create("mail");
    await take("mail");
    expect((await olga("runner list")).code).toBe(0);
    expect((await olga(`runner release runner-${tenant} --dry-run`)).code).toBe(0);
    expect(await stateOf(id)).toBe("RUNNING");
    expect((await actAsOlga(`runner release runner-${tenant} --yes`)).out).toContain(id);
    expect(await stateOf(id)).toBe("QUEUED");
  });
});

test("every change is in the audit before it is made: who, what, why; and when it is refused after all", async () => {
  const reader = await connectSession({ connect: bench.connect, timeoutMs: 60_000 });
  const audit = async (): Promise<readonly string[]> => {
    const read = await reader.children("/fleet/audit/records");
    const names = read.ok ? [...read.value.names].sort() : [];
    const records = await Promise.all(names.map((name) => reader.get(`/fleet/audit/records/${name}`)));
    return records
      .map((record) => JSON.parse(record.ok ? record.value.data.toString() : "{}") as Record<string, string>)
      .filter(({ target = "" }) => target.startsWith(`${tenant}/`) || target === `runner-${tenant}`)
      .map(({ actor, action, target = "", reason }) =>
        [actor, action, target.replace(tenant, "T"), reason].join(" | "),
      );
  };
  const id = await create("mail");
  await act(`q update ${id} --job-priority 1000 --next-run 2020-01-01`);
  await take("mail");
  await act(`q cancel ${id} --yes`);
  await act(`q fail ${id} --yes`);
  await act(`q requeue ${id}`);
  await act(`schedule set ${id} --repeat DAILY`);
  await act(`q delete ${id} --yes`);
  await writeFile(join(folder, "mail.js"), "return 200;");
  await act("handler add mail mail.js --lang node");
  await act("handler delete mail --of-version 1 --yes");
  await actAsOlga(`runner release runner-${tenant} --yes`);
  // Nothing was done, and nothing that only looks is an order.
  await mine(`q delete ${id} --yes`);
  await act("q delete 1 --dry-run");
  await mine("q list");
  const why = "for the test";
  expect(await audit()).toEqual([
    `anybody on this machine | queue.CreateJob | T/mail | ${why}`,
    `anybody on this machine | queue.UpdateJob (nextRun, jobPriority) | T/${id} | ${why}`,
    `anybody on this machine | queue.CancelJob | T/${id} | ${why}`,
    `anybody on this machine | queue.CancelJob refused | T/${id} | Can only cancel jobs that have not yet changed to RUNNING`,
    `anybody on this machine | queue.FailJob | T/${id} | ${why}`,
    `anybody on this machine | queue.RequeueJobs | T/[${id}] | ${why}`,
    `anybody on this machine | queue.UpdateJob (repeat) | T/${id} | ${why}`,
    `anybody on this machine | queue.DeleteJob | T/${id} | ${why}`,
    `anybody on this machine | handler.put node | T/mail | ${why}`,
    `anybody on this machine | handler.delete | T/mail@1 | ${why}`,
    `anybody on this machine | worker.release | runner-T | ${why}`,
  ]);
  expect((await mine(`q requeue ${id}`)).err).toContain("every change needs a reason");
  await reader.close();
});

test("every example of the help does what it says, or says why not now", async () => {
  await writeFile(join(folder, "mail.js"), "return 200;");
  await writeFile(join(folder, "mail.yaml"), "lang: node\nbody: return 201;\n");
  const examples = COMMANDS.filter(({ talksTo }) => talksTo === toJobs).flatMap((each) => each.examples);
  expect(examples.length).toBeGreaterThan(20);
  for (const example of examples) {
    const { code, err } = await olga(example);
    expect([example, err, [0, 3, 4].includes(code)]).toEqual([example, err, true]);
  }
});

test("without an address it is said where to set it", async () => {
  const { code, err } = await sluice("q list", { env: { SLUICE_ADMIN_URL: url() } });
  expect([code, err]).toEqual([64, expect.stringContaining("SLUICE_JOBS_URL")]);
});
