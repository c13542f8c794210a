import { afterEach, describe, expect, test } from "@jest/globals";
import { freePort } from "@sluice/local-parts";
import { testZooKeeper } from "@sluice/testkit";
import { parseConnect, type Server } from "@sluice/zookeeper";
import { connect, createServer, type Server as TcpServer } from "node:net";
import { Registry } from "prom-client";
import { exportSnapshot } from "../src/export-snapshot.ts";
import { readMntr, readSrvr } from "../src/zookeeper-servers/answers.ts";
import { askOver } from "../src/zookeeper-servers/ask.ts";
import { ZOOKEEPER_SERVER_METRICS } from "../src/zookeeper-servers/gauges.ts";
import { lookAtServers } from "../src/zookeeper-servers/look.ts";

const NOT_SERVING = "This ZooKeeper instance is not currently serving requests\n";
const NOT_LISTED = "mntr is not executed because it is not in the whitelist.\n";
const SRVR = [
  "Zookeeper version: 3.8.0",
  "Latency min/avg/max: 0/1.5/40",
  "Received: 10",
  "Sent: 9",
  "Connections: 3",
  "Outstanding: 2",
  "Zxid: 0x5",
  "Mode: follower",
  "Node count: 77",
  "",
].join("\n");

const servers: TcpServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers each word with these. */
async function answering(answers: Readonly<Record<string, string>>): Promise<Server> {
  const port = await freePort();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (word) => {
      const answer = answers[word.toString()];
      if (answer !== undefined) socket.end(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { host: "127.0.0.1", port };
}

const nobody = async (): Promise<Server> => ({ host: "127.0.0.1", port: await freePort() });

/** Short for a server that will not answer, long for one that will. */
const look = (asked: readonly Server[], limitMs = 20_000) => lookAtServers(asked, askOver(connect, limitMs));

async function metricsOf(asked: readonly Server[], limitMs?: number): Promise<string> {
  const registry = new Registry();
  const looked = await look(asked, limitMs);
  exportSnapshot(registry, ZOOKEEPER_SERVER_METRICS, () => Promise.resolve(looked));
  return await registry.metrics();
}

describe("the servers of the ensemble", () => {
  test("are shown with the numbers that a real one gives", async () => {
    const [server] = parseConnect((await testZooKeeper()).connect).servers;
    const text = await metricsOf([server!]);
    const name = `server="${server!.host}:${server!.port}"`;
    expect(text).toContain(`sluice_zk_server_up{${name}} 1`);
    expect(text).toContain(`sluice_zk_server_mode{${name},mode="standalone"} 1`);
    for (const metric of ["znodes", "data_bytes", "connections", "open_fds", "max_fds", "uptime_seconds"]) {
      expect(text).toMatch(new RegExp(`^sluice_zk_server_${metric}\\{${name}\\} [1-9]`, "m"));
    }
    for (const metric of ["ephemerals", "watches", "outstanding_requests", "fsyncs_total", "fsync_seconds_total"]) {
      expect(text).toMatch(new RegExp(`^sluice_zk_server_${metric}\\{${name}\\} \\d`, "m"));
    }
    expect(text).toMatch(new RegExp(`^sluice_zk_server_requests_total\\{${name},kind="update"\\} [1-9]`, "m"));
    expect(text).toMatch(new RegExp(`^sluice_zk_server_request_seconds_total\\{${name},kind="read"\\} \\d`, "m"));
    expect(text).toMatch(new RegExp(`^sluice_zk_server_latency_seconds\\{${name},stat="max"\\} \\d`, "m"));
    expect(text).toContain("# TYPE sluice_zk_server_requests_total counter");
  });

  test("that do not answer, or do not serve, are down, and hold up no other", async () => {
    const gone = await nobody();
    const silent = await answering({});
    const without = await answering({ mntr: NOT_SERVING, srvr: NOT_SERVING });
    const text = await metricsOf([gone, silent, without], 300);
    for (const { port } of [gone, silent, without]) {
      expect(text).toContain(`sluice_zk_server_up{server="127.0.0.1:${port}"} 0`);
    }
    expect(text).not.toContain("sluice_zk_server_znodes{");
  });

  test("that do not know mntr are asked for less", async () => {
    const [found] = await look([await answering({ mntr: NOT_LISTED, srvr: SRVR })]);
    expect(found?.facts?.mode).toBe("follower");
    expect(found?.facts?.numbers.get("zk_znode_count")).toBe(77);
  });
});

describe("an answer", () => {
  test("of a leader tells of its followers", () => {
    const text =
      "zk_version\t3.8.0, built on 2024-12-29\nzk_server_state\tleader\nzk_synced_followers\t1\nzk_learners\t2\n";
    const facts = readMntr(text);
    expect(facts).toEqual({
      mode: "leader",
      numbers: new Map([
        ["zk_synced_followers", 1],
        ["zk_learners", 2],
      ]),
    });
  });

  test("to srvr has mntr's names", () => {
    expect(readSrvr(SRVR)?.numbers).toEqual(
      new Map([
        ["zk_min_latency", 0],
        ["zk_avg_latency", 1.5],
        ["zk_max_latency", 40],
        ["zk_num_alive_connections", 3],
        ["zk_outstanding_requests", 2],
        ["zk_znode_count", 77],
      ]),
    );
  });

  test.each([NOT_SERVING, NOT_LISTED, ""])("that is none is seen to be none: %j", (text) => {
    expect([readMntr(text), readSrvr(text)]).toEqual([null, null]);
  });
});
