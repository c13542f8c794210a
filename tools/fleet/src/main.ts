/** `npm start`: a real ZooKeeper, the whole fleet as separate processes, a sample batch through it. */
import { join, resolve } from "node:path";
import { freePort, isPortFree, startZooKeeper } from "@sluice/local-parts";
import { queueAccess } from "@sluice/queue-core";
import { connectSession, readZooKeeperSettings } from "@sluice/zookeeper";
import { prepareDataFolder } from "./data-folder.ts";
import { type FirstTree, prepareTree } from "./first-tree.ts";
import { fleetFile, writeFleetFile } from "./fleet-file.ts";
import { type Instance, planInstances } from "./instances.ts";
import { prepareAuditKey } from "./audit-key.ts";
import { prepareJobSecrets } from "./job-secrets.ts";
import { type Options, parseOptions, USAGE } from "./options.ts";
import { untilReady } from "./ready.ts";
import { serveSample } from "./sample/content-server.ts";
import { submitSample } from "./sample/submit.ts";
import { watchBatch } from "./sample/watch.ts";
import { makeScreen } from "./screen.ts";
import { supervise } from "./supervisor.ts";
import { prepareTokens } from "./tokens.ts";

const screen = makeScreen(process.stdout);
const SESSION_MS = 10_000;

function portChooser(): (wanted: number) => Promise<number> {
  const given = new Set<number>();
  return async (wanted) => {
    let port = wanted;
    while (given.has(port) || !(await isPortFree(port))) port = await freePort();
    given.add(port);
    return port;
  };
}

/** Resolves at the first Ctrl-C or SIGTERM. A second one is left to the system's own way. */
const untilAsked = (): Promise<"asked"> =>
  new Promise((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done("asked"));
  });

interface Result {
  readonly code: number;
  /** For scripts: what became of the sample. */
  readonly summary: string | null;
}
const CLEAN: Result = { code: 0, summary: null };

async function main(options: Options): Promise<Result> {
  const dataDir = resolve(options.dataDir);
  const asked = untilAsked();
  await prepareDataFolder(dataDir);
  const zookeeper = await startZooKeeper({ dataDir: join(dataDir, "zookeeper"), log: screen.say });
  tellTree(await prepareTree(zookeeper.connect, dataDir), { dataDir, zookeeper: zookeeper.connect });
  const choosePort = portChooser();
  const instances = await planInstances({ dataDir, zookeeper: zookeeper.connect, scale: options.scale, choosePort });
  const tokens = await prepareTokens(dataDir, Date.now());
  await prepareJobSecrets(dataDir, tokens);
  await prepareAuditKey(dataDir);
  await writeFleetFile(dataDir, fleetFile(zookeeper.connect, instances, tokens));
  const supervisor = supervise(instances, screen.say);
  const ended = new AbortController();
  const zookeeperGone = zookeeper.exited.then((reason) => {
    throw new Error(`ZooKeeper ended (${reason}); its log is in ${join(dataDir, "zookeeper")}`);
  });
  const trouble = Promise.race([supervisor.fatal, zookeeperGone]);
  // The children do not keep this process alive, and neither does a promise.
  const alive = setInterval(() => undefined, 60_000);
  try {
    const work = run(
      options,
      instances,
      { zookeeper: zookeeper.connect, token: tokens.depositor },
      dataDir,
      ended.signal,
    );
    const first = await Promise.race([asked, work, trouble]);
    if (first === "asked") return CLEAN;
    if (options.once) return first;
    await Promise.race([asked, trouble]);
    return CLEAN;
  } finally {
    ended.abort();
    trouble.catch(() => undefined);
    screen.say("stopping");
    await supervisor.stop();
    await zookeeper.stop();
    clearInterval(alive);
  }
}

function tellTree(tree: FirstTree, { dataDir, zookeeper }: { readonly dataDir: string; readonly zookeeper: string }) {
  if (tree.kind === "made") screen.say("a new fleet: its tree was made");
  if (tree.kind === "problem") screen.say(`the services wait: ${tree.problem}`);
  if (tree.kind !== "kept") return;
  screen.say(
    `ZooKeeper holds no fleet, and ${dataDir} holds the state of one (${tree.what.join(", ")}): no tree was made.`,
  );
  screen.say(`  the services wait for it: npx sluice restore SNAPSHOT --zookeeper ${zookeeper}`);
  screen.say(`  a new fleet needs a folder of its own: npm start -- --data DIR`);
}

/** What the sample needs besides the intake's address. */
interface Doors {
  readonly zookeeper: string;
  /** The depositor's. */
  readonly token: string;
}

async function run(
  options: Options,
  instances: readonly Instance[],
  doors: Doors,
  dataDir: string,
  signal: AbortSignal,
): Promise<Result> {
  await untilReady(instances, signal);
  const urlOf = (service: string): string => instances.find((i) => i.service === service)?.url ?? "not started";
  screen.say(`${instances.length} processes are ready; logs are in ${join(dataDir, "logs")}`);
  screen.say(`  console  ${urlOf("admin")}`);
  screen.say(`  submit   ${urlOf("batch-intake")}/v1/batches`);
  screen.say(`  API      ${urlOf("batch-intake")}/docs`);
  screen.say(`  jobs     ${urlOf("job-api")}/docs, nc ${bedrockOf(instances)}`);
  screen.say(`  stages   ${urlOf("stage-api")}/docs`);
  screen.say(`  mails    ${join(dataDir, "outbox")}`);
  screen.say(`  store    ${join(dataDir, "store")}`);
  screen.say(
    `  tokens   one for each role (depositor, viewer, operator, admin), for development only: tokens in fleet.json`,
  );
  screen.say(`  all of it is in ${join(dataDir, "fleet.json")}; Ctrl-C stops it`);
  return options.sample ? await runSample(urlOf("batch-intake"), doors, signal) : CLEAN;
}

const bedrockOf = (instances: readonly Instance[]): string =>
  instances.find(({ bedrock }) => bedrock !== null)?.bedrock?.replace(":", " ") ?? "not started";

async function runSample(intake: string, { zookeeper, token }: Doors, signal: AbortSignal): Promise<Result> {
  const content = await serveSample();
  const settings = readZooKeeperSettings(zookeeper, process.env);
  if (!settings.ok) throw new Error(settings.problems.join("\n"));
  const session = await connectSession({
    connect: zookeeper,
    timeoutMs: SESSION_MS,
    access: queueAccess(settings.settings),
  });
  try {
    const startedMs = performance.now();
    const batch = await submitSample(intake, content.manifestUrl, token);
    screen.say(`sample batch ${batch}: ${content.files} files`);
    const watched = await watchBatch(session, batch, screen.progress, signal);
    if (watched === null) return { code: 1, summary: null };
    const seconds = Math.round((performance.now() - startedMs) / 10) / 100;
    screen.say(`sample batch ${batch} is ${watched.status} after ${seconds} s`);
    const summary = JSON.stringify({ batch, status: watched.status, jobs: watched.jobs, seconds });
    return { code: watched.status === "Completed" ? 0 : 1, summary };
  } finally {
    await Promise.all([session.close(), content.close()]);
  }
}

const parsed = parseOptions(process.argv.slice(2));
if (!parsed.ok) {
  console.error(`${parsed.problem}\n\n${USAGE}`);
  process.exit(1);
}
if (parsed.options === null) {
  console.log(USAGE);
  process.exit(0);
}
const { code, summary } = await main(parsed.options).catch((error: unknown): Result => {
  console.error(error instanceof Error ? error.message : error);
  return { code: 1, summary: null };
});
if (parsed.options.once && summary !== null) screen.say(summary);
process.exit(code);
