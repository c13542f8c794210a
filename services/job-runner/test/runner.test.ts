import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { JobClient } from "@sluice/job-client";
import { findTool, skipUnless } from "@sluice/local-parts";
import { type HttpServer, serveHttp, waitFor } from "@sluice/testkit";
import type { HandlerSpec, JobRun, JobWorker, QueuedJobDetail } from "@sluice/wire";
import { rmdir } from "node:fs/promises";
import { findWalls } from "../src/sandbox/walls.ts";
import { type RunnerProcess, type Stage, startStage } from "./support/processes.ts";

let stage: Stage;
let jobs: JobClient;
let first: RunnerProcess;
let gate: Gate;
/** Shuts down the instances of dead workers; refuses the first call. */
let hook: HttpServer;
const told: { readonly name: string; readonly id: string }[] = [];
beforeAll(async () => {
  hook = await serveHttp((request, response) => {
    const { Name } = JSON.parse(request.body) as { readonly Name: string };
    told.push({ name: Name, id: String(request.headers["idempotency-key"]) });
    response.writeHead(told.length === 1 ? 503 : 204).end();
  });
  gate = await startGate();
  stage = await startStage();
  ({ jobs } = stage);
  first = await stage.runner("first");
});
afterAll(async () => {
  await stage.stop();
  await gate.end();
  await hook.close();
});

/** A handler that ends when the test says so: its request is answered while the gate is open. */
interface Gate {
  readonly handler: Partial<HandlerSpec> & { readonly body: string };
  open(): void;
  close(): void;
  end(): Promise<void>;
}

async function startGate(): Promise<Gate> {
  let isOpen = false;
  const waiting = new Set<() => void>();
  const server: HttpServer = await serveHttp((_request, response) => {
    const answer = (): void => void response.end("open");
    if (isOpen) answer();
    else waiting.add(answer);
  });
  return {
    handler: {
      body: `return (await request(${JSON.stringify(server.url)})).body`,
      allow: { network: [new URL(server.url).host] },
    },
    open: () => {
      isOpen = true;
      for (const answer of waiting) answer();
      waiting.clear();
    },
    close: () => void (isOpen = false),
    end: () => server.close(),
  };
}

async function handler(type: string, spec: Partial<HandlerSpec> & { readonly body: string }, of = jobs): Promise<void> {
  // An idle connection may be closed just as it is used again; to put the same twice changes nothing.
  const put = await waitFor(async () => {
    const answer = await of.putHandler(type, { lang: "node", ...spec });
    return (answer.ok || answer.kind !== "unknown") && answer;
  });
  if (!put.ok) throw new Error(JSON.stringify(put));
}

async function add(name: string, payload = "", more: object = {}, of = jobs): Promise<number> {
  const made = await of.createJob({ name, data: { payload }, ...more });
  if (!made.ok) throw new Error(JSON.stringify(made));
  return made.value;
}

async function described(id: number, of = jobs): Promise<QueuedJobDetail | null> {
  const found = await of.describe(id);
  return found.ok ? found.value : null;
}

async function ended(id: number, of = jobs): Promise<JobRun> {
  return waitFor(async () => (await described(id, of))?.runs.find(({ outcome }) => outcome === "finished"), {
    what: `job ${id}`,
  });
}

async function worker(name: string): Promise<JobWorker | null> {
  const listed = await jobs.workers();
  return (listed.ok ? listed.value.items : []).find(({ Name }) => Name === name) ?? null;
}

const standing = await findWalls({ uid: 65_534, namespaces: true });
await rmdir(standing.box.root);
const perl = await findTool("perl");
const scripts = standing.walls.namespaces ? perl : { skip: `walls are missing: ${standing.missing}` };

skipUnless(test, scripts)("a handler's language may be any interpreter that the runner has", async () => {
  const print = (text: string): string => `chomp(my $p = <STDIN>); open(OUT, '>&=', 3); print OUT "${text}";`;
  await handler("brew", { lang: "perl", body: `${print("201 made $p")} print "J: pour|cup"`, onFinish: "drink" });
  await handler("pour", { lang: "cobol", body: "STOP RUN." });
  await handler("drink", { lang: "perl", body: print("drank $p") });
  const made = { exit: 201, code: "ok", result: "made tea", owner: "first" };
  expect(await ended(await add("brew", "tea"))).toMatchObject(made);
  const runs = await waitFor(async () => {
    const listed = await jobs.runs({ name: "pour,drink" });
    return listed.ok && new Set(listed.value.items.map(({ name }) => name)).size === 2 && listed.value.items;
  });
  expect(runs.find(({ name }) => name === "drink")?.result).toBe("drank made tea");
  // Another runner may have it.
  const none = { exit: 503, outcome: "retried", result: expect.stringContaining("no interpreter cobol") as unknown };
  expect(runs.find(({ name }) => name === "pour")).toMatchObject(none);
});

test("jobs are run by their handler, with results, exit codes and lines in the log for each", async () => {
  await handler("double", {
    body: "if (payload === 'x') return { exit: 422, result: 'no number' }; return String(2 * payload)",
  });
  const [good, bad] = [await add("double", "21"), await add("double", "x")];
  expect(await ended(good)).toMatchObject({ exit: 200, result: "42", owner: "first" });
  expect(await ended(bad)).toMatchObject({ exit: 422, result: "no number" });
  await waitFor(async () => {
    const told = (await first.log()).filter(({ job }) => job === good).map(({ msg }) => msg);
    return ["job entering", "job running", "job completing"].every((line) => told.includes(line));
  });
  expect(await first.metrics()).toMatch(/sluice_job_runs_total\{.*code="ok".*\} [1-9]/);
});

test("M21, M22: lines with J: become jobs of the same tenant, whatever they say; a follow-on job gets the result", async () => {
  await handler("asks", {
    body: "console.log('J: asked|hello'); console.log('J: beta/asked|forged'); console.log('noise'); return 'made it'",
  });
  await handler("asked", { body: "return 'got ' + payload" });
  await handler("after", { body: "return 'after: ' + payload" });
  await ended(await add("asks", "", { onFinish: "after" }));
  const runs = await waitFor(async () => {
    const listed = await jobs.runs({ name: "asked,after" });
    return listed.ok && listed.value.items.length === 2 && listed.value.items;
  });
  expect(runs.map(({ name, tenant }) => `${tenant} ${name}`).sort()).toEqual(["alpha after", "alpha asked"]);
  expect(runs.find(({ name }) => name === "asked")!.result).toBe("got hello");
  expect(runs.find(({ name }) => name === "after")!.result).toContain("made it");
  const others = await jobs.forTenant("beta").runs();
  expect(others.ok && others.value.items).toEqual([]);
});

test("M19: a job without a handler is tried until there is one", async () => {
  const id = await stage.addLine("alpha", "later", "x");
  await waitFor(async () => ((await described(id))?.events ?? []).some(({ what }) => what === "retry"));
  await handler("later", { body: "return 'at last'" });
  expect(await ended(id)).toMatchObject({ result: "at last" });
});

test("a job of a type that never had a handler is left to workers of its own", async () => {
  const own = await add("by-hand");
  await handler("by-runner", { body: "return 'done'" });
  // Added later, run at once: the runner has seen both.
  await ended(await add("by-runner"));
  const taken = await jobs.getJob({ name: "by-hand" });
  expect(taken).toMatchObject({ ok: true, value: { jobID: own } });
  expect((await described(own))!.events.map(({ what }) => what)).toEqual(["create", "take"]);
});

test("M18: a job that never ends well is abandoned, kept as FAILED and reported", async () => {
  await handler("hopeless", { body: "throw new Error('never')", retry: { maxAttempts: 2, delayMs: 0 } });
  const id = await add("hopeless");
  await waitFor(async () => (await described(id))?.state === "FAILED");
  expect(
    await waitFor(async () => (await first.log()).find(({ msg, job }) => msg === "job abandoned" && job === id)),
  ).toMatchObject({
    level: "error",
    why: "abandoned after 2 attempts",
  });
});

test("M18: age counts from the first try, so that a job that was made for later is tried like any other", async () => {
  await handler("aged", { body: "throw new Error('never')", retry: { maxAgeMs: 1, delayMs: 0 } });
  const id = await add("aged");
  await waitFor(async () => (await described(id))?.state === "FAILED");
  expect((await described(id))!.runs.map(({ outcome }) => outcome)).toEqual(["failed", "retried"]);
});

test("M23: a context is reused for its type, never by another tenant; before once, the others around each batch", async () => {
  const spec = {
    before: "context.log = ['before']",
    beforeEach: "context.log.push('each')",
    body: "return context.log.join()",
    afterEach: "context.log.push('after')",
  };
  const beta = jobs.forTenant("beta");
  await handler("kept", spec);
  await handler("kept", spec, beta);
  const results = [];
  for (const whose of [jobs, jobs, beta]) results.push((await ended(await add("kept", "", {}, whose), whose)).result);
  expect(results).toEqual(["before,each", "before,each,after,each", "before,each"]);
});

test("E3: all the jobs that a worker runs stand in its entry, the oldest first", async () => {
  await handler("waits-too", gate.handler);
  const ids = [await add("waits-too"), await add("waits-too")];
  await waitFor(async () => [...((await worker("first"))?.Job.split(",") ?? [])].sort().join() === ids.sort().join());
  gate.open();
  for (const id of ids) await ended(id);
  await waitFor(async () => (await worker("first"))?.Job === "");
});

test("E3: while a job runs it stands in its worker's entry, and no longer when it has ended", async () => {
  await handler("waits", gate.handler);
  const id = await add("waits");
  await waitFor(async () => (await worker("first"))?.Job === String(id));
  gate.open();
  await ended(id);
  await waitFor(async () => (await worker("first"))?.Job === "");
});

/** Far longer than it lives: those that run it are killed or stopped. */
const HOLD = "await new Promise((done) => setTimeout(done, 600000)); return 'held'";

/** Taken by this very runner: others take only what is theirs. */
async function holding(name: string, type: string): Promise<{ readonly id: number; readonly holder: RunnerProcess }> {
  const holder = await stage.runner(name, { JOB_TYPES: type });
  await handler(type, { body: HOLD });
  await first.child.kill("SIGTERM");
  const id = await add(type);
  // Its entry names the job before its handler is read: a handler that changes in between would be the one that runs.
  const isRunning = async (): Promise<boolean> =>
    (await holder.log()).some(({ msg, job }) => msg === "job running" && job === id);
  await waitFor(isRunning, { what: `${name} at work` });
  await handler(type, { body: "return 'by another'" });
  first = await stage.runner(`first-${name}`, { DEAD_WORKER_HOOK: hook.url });
  return { id, holder };
}

test("E20, E21, E23: the jobs of a runner that was killed are ended by another one; its entry says DEAD", async () => {
  const { id, holder } = await holding("killed", "hold-killed");
  await holder.child.kill("SIGKILL");
  expect(await ended(id)).toMatchObject({ result: "by another", owner: first.name });
  await waitFor(async () => (await worker("killed"))?.Status === "DEAD");
  await waitFor(async () => /^sluice_job_workers_declared_dead_total(?:\{.*\})? [1-9]/m.test(await first.metrics()));
  // Not heard at first: it is told again, of the same death.
  await waitFor(() => told.length >= 2, { what: "DEAD_WORKER_HOOK" });
  expect(told.map(({ name }) => name)).toEqual(["killed", "killed"]);
  expect(new Set(told.map(({ id: death }) => death)).size).toBe(1);
  await waitFor(async () => (await first.log()).some(({ msg }) => msg === "DEAD_WORKER_HOOK was told"));
});

test("E22: a runner that was stopped, declared dead and goes on cannot end its job", async () => {
  const { id, holder } = await holding("stopped", "hold-stopped");
  process.kill(holder.child.pid, "SIGSTOP");
  await ended(id);
  process.kill(holder.child.pid, "SIGCONT");
  await waitFor(async () => (await holder.log()).some(({ msg }) => msg === "jobs let go: they are no longer ours"));
  const runs = (await described(id))!.runs.filter(({ outcome }) => outcome === "finished");
  expect(runs.map(({ result }) => result)).toEqual(["by another"]);
  // It is a worker again, under its own name.
  await waitFor(async () => (await worker("stopped"))?.Status === "ALIVE");
  await holder.child.kill("SIGTERM");
});

test("a runner that is asked to end finishes what it has, and leaves no entry behind", async () => {
  const leaving = await stage.runner("leaving", { JOB_TYPES: "leave" });
  await first.child.kill("SIGTERM");
  gate.close();
  await handler("leave", gate.handler);
  const id = await add("leave");
  await waitFor(async () => (await worker("leaving"))?.Job === String(id));
  // Returns when it has ended, which it does after its job.
  const left = leaving.child.kill("SIGTERM");
  await waitFor(async () => (await leaving.log()).some(({ msg }) => msg === "draining"), {
    what: "a runner that ends",
  });
  gate.open();
  await left;
  expect(await ended(id)).toMatchObject({ result: "open", owner: "leaving" });
  expect(await worker("leaving")).toBeNull();
  first = await stage.runner("last");
});

test("a runner with two job-apis keeps its job when the one that it asks is killed, ends it once, and takes the next one", async () => {
  const api = await stage.anotherApi();
  const between = await stage.runner("between", {
    JOB_TYPES: "between*",
    JOB_API_URLS: `${api.url},${stage.apiUrl}`,
  });
  await first.child.kill("SIGTERM");
  gate.close();
  await handler("between", gate.handler);
  const id = await add("between");
  await waitFor(async () => (await worker("between"))?.Job === String(id));
  await api.child.kill("SIGKILL");
  // It has asked for more jobs and for its lease since, at the other one.
  await handler("between-2", { body: "return 'meanwhile'" });
  const next = await waitFor(async () => {
    const made = await jobs.createJob({ name: "between-2", data: { payload: "" }, unique: true });
    return made.ok && made.value;
  });
  expect(await ended(next)).toMatchObject({ result: "meanwhile", owner: "between" });
  gate.open();
  expect(await ended(id)).toMatchObject({ result: "open", owner: "between" });
  const { events, runs } = (await described(id))!;
  expect([events.filter(({ what }) => what === "take").length, runs.length]).toEqual([1, 1]);
  await between.child.kill("SIGTERM");
  first = await stage.runner("very-last");
});
