/** What a fleet of containers is put through. Every step throws when it does not hold. */
import type { RoleTokens } from "@sluice/access";
import type { Docker } from "../docker.ts";
import type { ComposeFleet } from "./compose-fleet.ts";
import type { Collector } from "./collector.ts";
import { type Content, serveContent } from "./content.ts";
import { askPrometheus, type Intake, subjectsOfMails, submitManifest, until, watchBatch } from "./doors.ts";
import { runAJob } from "./jobs.ts";
import { at, connectOf, type Ports, urlOf } from "./layout.ts";

export interface Scenario {
  readonly docker: Docker;
  readonly fleet: ComposeFleet;
  /** Of the fleet, without the parts that are not ours. */
  readonly services: readonly string[];
  readonly collector: Collector;
  readonly ports: Ports;
  readonly tokens: RoleTokens;
  /** prefix/cli:version */
  readonly cliImage: string;
  readonly say: (line: string) => void;
}

export const PARTS = ["zoo1", "zoo2", "zoo3", "mariadb", "mail", "prometheus"] as const;
/** These have no part in a deposit. */
const UNTRACED: readonly string[] = ["admin", "job-api", "job-runner", "stage-api"];
const LOAD = 200;
const SETTLE_MS = 180_000;

export async function runScenario(scenario: Scenario): Promise<void> {
  const { say } = scenario;
  await depositWithTheCommand(scenario);
  say("ok  a file deposited with the image of the command is Completed");
  const content = await serveContent(LOAD);
  try {
    await loseContainersUnderLoad(scenario, content);
  } finally {
    await content.close();
  }
  say(`ok  ${LOAD} of ${LOAD} jobs Completed; containers were killed and stopped meanwhile`);
  await checkTheTree(scenario);
  say("ok  fsck finds nothing");
  await until("a mail for each batch", SETTLE_MS, async () => (await mails(scenario)).length >= 2);
  const subjects = await mails(scenario);
  if (subjects.length !== 2) throw new Error(`two batches made ${subjects.length} mails: ${subjects.join("; ")}`);
  say("ok  each batch has reported by one mail");
  const prometheus = urlOf(scenario.ports, "PROMETHEUS_PORT");
  await until("every service scraped", SETTLE_MS, async () => {
    return (await askPrometheus(prometheus, 'sum(up{job="sluice"})')) === scenario.services.length;
  });
  say(`ok  Prometheus scrapes all ${scenario.services.length}`);
  const job = await runAJob({
    url: urlOf(scenario.ports, "JOB_API_PORT"),
    bedrockPort: at(scenario.ports, "BEDROCK_PORT"),
    token: scenario.tokens.admin,
  });
  say(`ok  job ${job} was made over TCP and done by a handler that the runner called`);
  await endInOrder(scenario);
  say("ok  every service ended by SIGTERM with exit code 0");
  const silent = scenario.services.filter((each) => !UNTRACED.includes(each) && !scenario.collector.services.has(each));
  if (silent.length > 0) throw new Error(`no span came from ${silent.join(", ")}`);
  say(`ok  spans came from ${[...scenario.collector.services].sort().join(", ")}`);
}

const mails = ({ ports }: Scenario) => subjectsOfMails(urlOf(ports, "MAIL_PORT"));

async function sluice({ docker, ports, cliImage }: Scenario, token: string, ...args: string[]): Promise<string> {
  const env = {
    SLUICE_INTAKE_URL: urlOf(ports, "INTAKE_PORT"),
    SLUICE_ADMIN_URL: urlOf(ports, "ADMIN_PORT"),
    SLUICE_TOKEN: token,
  };
  const given = Object.keys(env).flatMap((name) => ["--env", name]);
  const hardened = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL"];
  return await docker.with(env).run("run", "--rm", "--network", "host", ...hardened, ...given, cliImage, ...args);
}

async function depositWithTheCommand(scenario: Scenario): Promise<void> {
  const { depositor } = scenario.tokens;
  await sluice(scenario, depositor, ...["submit", "/app/LICENSE", "--profile", "sluice_demo_content", "--watch"]);
}

async function loseContainersUnderLoad(scenario: Scenario, content: Content): Promise<void> {
  const { fleet, ports, tokens, say } = scenario;
  const intake: Intake = { url: urlOf(ports, "INTAKE_PORT"), token: tokens.depositor };
  const batch = await submitManifest(intake, content.manifestUrl);
  const someDone = (count: number) => watchBatch(intake, batch, ({ counts }) => counts.completed >= count);

  await someDone(LOAD / 20);
  for (const service of ["downloader", "recorder"]) await fleet.signal(service, "KILL");
  say("    downloader and recorder killed");
  await fleet.stop("processor");
  const { ExitCode } = await fleet.stateOf("processor");
  if (ExitCode !== 0) throw new Error(`processor ended with ${ExitCode} when it was stopped`);
  say("    processor stopped with work in hand: exit code 0");
  const leader = await leaderOf(scenario);
  await fleet.signal(leader, "KILL");
  say(`    ${leader} killed, the leader of the ensemble`);
  const before = await watchBatch(intake, batch, () => true);
  if (before.counts.completed === LOAD) throw new Error("the batch was over before anything was lost");
  for (const service of ["downloader", "recorder", "processor", leader]) await fleet.start(service);

  const after = await watchBatch(intake, batch, ({ status }) => ["Completed", "Failed"].includes(status));
  if (after.status !== "Completed" || after.counts.completed !== LOAD)
    throw new Error(`the batch is ${after.status}: ${JSON.stringify(after.counts)}`);
}

async function leaderOf({ docker, ports, fleet }: Scenario): Promise<string> {
  for (const member of ["zoo1", "zoo2", "zoo3"]) {
    const port = ports[`${member.toUpperCase()}_PORT`] ?? 0;
    const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf srvr >&3; cat <&3`;
    const said = await docker.run("exec", await fleet.idOf(member), "bash", "-c", script).catch(() => "");
    if (said.includes("Mode: leader")) return member;
  }
  throw new Error("the ensemble has no leader");
}

async function checkTheTree(scenario: Scenario): Promise<void> {
  await scenario.fleet.untilHealthy(PARTS);
  await sluice(scenario, scenario.tokens.admin, "fsck", "--zookeeper", connectOf(scenario.ports));
}

async function endInOrder({ fleet, services }: Scenario): Promise<void> {
  await fleet.run("stop", ...services);
  for (const service of services) {
    const { ExitCode } = await fleet.stateOf(service);
    if (ExitCode !== 0) throw new Error(`${service} ended with ${ExitCode}:\n${await fleet.logsOf(service)}`);
  }
}
