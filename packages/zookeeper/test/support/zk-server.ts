import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A real ZooKeeper of this test's own, with short ticks: these tests let sessions expire, and stop and kill servers. */
export interface TestServer {
  readonly port: number;
  readonly address: string;
  /** SIGSTOP and SIGCONT: a server that accepts connections and says nothing. */
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const JAVA = [
  "-Xmx256m",
  "-XX:+UseSerialGC",
  "-XX:TieredStopAtLevel=1",
  "-Dzookeeper.admin.enableServer=false",
  "-cp",
  "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar",
  "org.apache.zookeeper.server.quorum.QuorumPeerMain",
];

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

export async function startServer(tickTimeMs = 200): Promise<TestServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "sluice-zk-"));
  const config = [
    `tickTime=${tickTimeMs}`,
    "maxSessionTimeout=60000",
    `dataDir=${folder}`,
    `clientPort=${port}`,
    "clientPortAddress=127.0.0.1",
    "maxClientCnxns=0",
    "4lw.commands.whitelist=*",
  ];
  await writeFile(join(folder, "zoo.cfg"), config.join("\n"));
  let child: ChildProcess | null = null;

  const server: TestServer = {
    port,
    address: `127.0.0.1:${port}`,
    freeze: () => child?.kill("SIGSTOP"),
    thaw: () => child?.kill("SIGCONT"),
    start: async () => {
      child = await launch(join(folder, "zoo.cfg"));
    },
    kill: async () => {
      const running = child;
      child = null;
      if (running === null) return;
      running.kill("SIGKILL");
      if (running.exitCode === null && running.signalCode === null) await once(running, "exit");
    },
    stop: async () => {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

async function launch(config: string): Promise<ChildProcess> {
  const child = spawn("java", [...JAVA, config], { stdio: ["ignore", "ignore", "pipe"] });
  const lines = createInterface({ input: child.stderr });
  const last: string[] = [];
  for await (const line of lines) {
    last.push(line);
    if (line.includes("PrepRequestProcessor") && line.includes("started")) {
      child.stderr.resume();
      return child;
    }
  }
  throw new Error(`ZooKeeper did not start: ${last.slice(-5).join("\n")}`);
}
