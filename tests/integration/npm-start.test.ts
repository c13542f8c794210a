/** `npm start` as people and scripts use it, from the point at which everything is installed and built. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitFor } from "@sluice/testkit";
import { type Content, serveContent } from "../support/content.ts";
import { childrenOf, type ProcessRow, stillRunning } from "../support/processes.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SERVICES = [
  ...["admin", "batch-intake", "downloader", "estimator", "job-api", "job-runner", "notifier", "processor"],
  ...["provisioner", "recorder", "reporter", "stage-api"],
];

interface FleetFile {
  readonly zookeeper: string;
  readonly services: Readonly<Record<string, string>>;
  readonly docs: Readonly<Record<string, string>>;
  readonly instances: Readonly<Record<string, string>>;
  readonly tokens: Readonly<Record<string, string>>;
}

interface Summary {
  readonly batch: string;
  readonly status: string;
  readonly jobs: number;
  readonly seconds: number;
}

interface Run {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

let dataDir: string;
let content: Content;
/** Of the runs so far, all on the same data. */
const batches: string[] = [];
const runs = new Set<Run>();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "sluice-start-"));
  content = await serveContent();
});
afterAll(async () => {
  for (const run of runs) run.child.kill("SIGTERM");
  await Promise.all([...runs].map((run) => run.ended));
  await content.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** A server that the surroundings name is somebody else's: this one shall start its own. */
function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Run {
  const child = spawn(process.execPath, ["dist/programs/fleet.js", ...args], {
    cwd: ROOT,
    env: { ...process.env, ZOOKEEPER_CONNECT: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => (said[stream] += text));
  }
  const ended = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? "?"));
  });
  const run = { child, pid: child.pid!, stdout: () => said.stdout, stderr: () => said.stderr, ended };
  runs.add(run);
  void ended.then(() => runs.delete(run));
  return run;
}

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";
const fleetFile = async (): Promise<FleetFile> =>
  JSON.parse(await readFile(join(dataDir, "fleet.json"), "utf8")) as FleetFile;

async function runOnce(): Promise<Summary> {
  const run = start(["--once", "--data", dataDir]);
  const code = await run.ended;
  expect([code, run.stderr()]).toEqual([0, ""]);
  return JSON.parse(lastLine(run.stdout())) as Summary;
}

const COMPLETED = {
  batch: expect.stringMatching(/^bid\d{10}$/),
  status: "Completed",
  jobs: 6,
  seconds: expect.any(Number),
};

describe("npm start -- --once", () => {
  test("takes the sample through, says so in its last line, and ends with 0", async () => {
    const first = await runOnce();
    expect(first).toEqual(COMPLETED);
    const { zookeeper, services, docs } = await fleetFile();
    expect(zookeeper).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(Object.keys(services).sort()).toEqual(SERVICES);
    expect(Object.values(services)).toEqual(SERVICES.map(() => expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)));
    expect(docs).toMatchObject({ "batch-intake": `${services["batch-intake"]!}/docs` });
    batches.push(first.batch);
  });

  test("does so again on the same data, with the next batch", async () => {
    const second = await runOnce();
    expect(second).toEqual(COMPLETED);
    expect(second.batch > batches[0]!).toBe(true);
    batches.push(second.batch);
  });
});

describe("npm start -- --no-sample --scale estimator=2", () => {
  let run: Run;
  let file: FleetFile;

  beforeAll(async () => {
    run = start(["--no-sample", "--scale", "estimator=2", "--data", dataDir], { ZK_SESSION_TIMEOUT_MS: "4000" });
    await waitFor(() => run.stdout().includes("processes are ready"), { what: "all ready" });
    file = await fleetFile();
  });

  const pidsOf = async (service: string): Promise<readonly number[]> =>
    (await childrenOf(run.pid))
      .filter(({ command }) => command.includes(`dist/programs/${service}.js`))
      .map(({ pid }) => pid);

  const asDepositor = (): Record<string, string> => ({ authorization: `Bearer ${file.tokens["depositor"]!}` });

  async function statusOf(batch: string): Promise<string> {
    const answer = await fetch(`${file.services["batch-intake"]}/v1/batches/${batch}`, { headers: asDepositor() });
    return answer.ok ? ((await answer.json()) as { readonly status: string }).status : `HTTP ${answer.status}`;
  }

  async function submit(): Promise<string> {
    const answer = await fetch(`${file.services["batch-intake"]}/v1/batches`, {
      method: "POST",
      headers: { "content-type": "application/json", ...asDepositor() },
      body: JSON.stringify({
        profile: "sluice_demo_content",
        submitter: "test",
        payload_url: content.file(1),
        type: "file",
      }),
    });
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { readonly bid: string }).bid;
  }

  test("runs two estimators, and one of each other service", async () => {
    for (const service of SERVICES) {
      expect([service, await pidsOf(service)]).toHaveProperty("1.length", service === "estimator" ? 2 : 1);
    }
    for (const name of ["estimator", "estimator-2"]) {
      expect((await fetch(`${file.instances[name]}/readyz`)).status).toBe(200);
    }
  });

  test("still has the batches of earlier runs", async () => {
    for (const batch of batches) expect([batch, await statusOf(batch)]).toEqual([batch, "Completed"]);
  });

  test("starts a service again that was killed, and the fleet goes on", async () => {
    const [pid] = await pidsOf("downloader");
    process.kill(pid!, "SIGKILL");
    const batch = await submit();
    expect(batches).not.toContain(batch);
    await waitFor(async () => (await statusOf(batch)) === "Completed", { what: "the batch" });
    const now = await pidsOf("downloader");
    expect(now).toHaveLength(1);
    expect(now).not.toContain(pid);
    expect(run.stdout()).toContain("downloader ended (signal SIGKILL)");
  });

  test("stops all at Ctrl-C, and ends with 0", async () => {
    const children = await childrenOf(run.pid);
    expect(children.length).toBeGreaterThan(SERVICES.length);
    run.child.kill("SIGINT");
    expect([await run.ended, run.stderr()]).toEqual([0, ""]);
    await waitFor(async () => (await stillRunning(children)).length === 0, { what: "the end of all its processes" });
  });
});

describe("npm start, wrongly asked", () => {
  test("stops all when a service's configuration is wrong, and says what is", async () => {
    const run = start(["--data", dataDir], { RETENTION_DAYS: "abc" });
    let code: number | string | null = null;
    void run.ended.then((ended) => (code = ended));
    const seen = new Map<number, ProcessRow>();
    await waitFor(
      async () => {
        for (const child of await childrenOf(run.pid)) seen.set(child.pid, child);
        return code !== null;
      },
      { what: "the end" },
    );
    expect(code).toBe(1);
    expect(run.stderr()).toContain("reporter cannot start:\nreporter: wrong configuration\n  RETENTION_DAYS: must be");
    expect(seen.size).toBeGreaterThan(1);
    await waitFor(async () => (await stillRunning([...seen.values()])).length === 0, { what: "the end of all" });
  });

  test.each([
    ["an unknown option", ["--twice"], "--twice"],
    ["an unknown service", ["--scale", "estimators=2"], "no service estimators"],
    ["a number that is none", ["--scale", "estimator=two"], "--scale estimator"],
    ["options that contradict each other", ["--once", "--no-sample"], "--no-sample"],
  ])("explains its options when it is given %s", async (_, args, why) => {
    const run = start(args);
    expect(await run.ended).toBe(1);
    expect(run.stdout()).toBe("");
    expect(run.stderr()).toContain(why);
    expect(run.stderr()).toContain("npm start -- [--once]");
  });
});
