import type { SnapshotMetric } from "../export-snapshot.ts";
import type { ServerLook } from "./look.ts";

type Looks = readonly ServerLook[];
type Values = SnapshotMetric<Looks>["values"];

const MS = 1 / 1_000;

/** A number of mntr, where the server gives it. */
const number =
  (key: string, unit = 1): Values =>
  (looks) =>
    looks.flatMap(({ server, facts }) => {
      const value = facts?.numbers.get(key);
      return value === undefined ? [] : [[{ server }, value * unit] as const];
    });

/** Several numbers of mntr that are one metric, each under a value of `label`. */
const numbers =
  (label: string, keys: Readonly<Record<string, string>>, unit = 1): Values =>
  (looks) =>
    Object.entries(keys).flatMap(([name, key]) =>
      number(key, unit)(looks).map(([at, value]) => [{ ...at, [label]: name }, value] as const),
    );

// prettier-ignore
export const ZOOKEEPER_SERVER_METRICS: readonly SnapshotMetric<Looks>[] = [
  { name: "sluice_zk_server_up",                   labels: ["server"],         help: "1 while the server of ZOOKEEPER_CONNECT serves, else 0", values: (looks) => looks.map(({ server, facts }) => [{ server }, facts === null ? 0 : 1]) },
  { name: "sluice_zk_server_mode",                 labels: ["server", "mode"], help: "1 for what the server is: leader, follower, observer, standalone", values: (looks) => looks.flatMap(({ server, facts }) => (facts === null ? [] : [[{ server, mode: facts.mode }, 1]])) },
  { name: "sluice_zk_server_learners",             labels: ["server"],         help: "Followers and observers of the leader", values: number("zk_learners") },
  { name: "sluice_zk_server_synced_followers",     labels: ["server"],         help: "Followers of the leader that are up to date", values: number("zk_synced_followers") },
  { name: "sluice_zk_server_znodes",               labels: ["server"],         help: "Nodes in the server's tree", values: number("zk_znode_count") },
  { name: "sluice_zk_server_ephemerals",           labels: ["server"],         help: "Ephemeral nodes: locks and registrations", values: number("zk_ephemerals_count") },
  { name: "sluice_zk_server_watches",              labels: ["server"],         help: "Watches that clients of this server have set", values: number("zk_watch_count") },
  { name: "sluice_zk_server_data_bytes",           labels: ["server"],         help: "Size of paths and data in the server's tree, roughly", values: number("zk_approximate_data_size") },
  { name: "sluice_zk_server_connections",          labels: ["server"],         help: "Connections of clients", values: number("zk_num_alive_connections") },
  { name: "sluice_zk_server_outstanding_requests", labels: ["server"],         help: "Requests that wait in the server", values: number("zk_outstanding_requests") },
  { name: "sluice_zk_server_open_fds",             labels: ["server"],         help: "File descriptors in use", values: number("zk_open_file_descriptor_count") },
  { name: "sluice_zk_server_max_fds",              labels: ["server"],         help: "File descriptors that the server may use", values: number("zk_max_file_descriptor_count") },
  { name: "sluice_zk_server_uptime_seconds",       labels: ["server"],         help: "Since the server's start", values: number("zk_uptime", MS) },
  { name: "sluice_zk_server_latency_seconds",      labels: ["server", "stat"], help: "Latency of requests since the server's start: min, avg, max", values: numbers("stat", { min: "zk_min_latency", avg: "zk_avg_latency", max: "zk_max_latency" }, MS) },
  { name: "sluice_zk_server_request_seconds_total", labels: ["server", "kind"], type: "counter", help: "Time spent on requests, by kind: read, update", values: numbers("kind", { read: "zk_sum_readlatency", update: "zk_sum_updatelatency" }, MS) },
  { name: "sluice_zk_server_requests_total",       labels: ["server", "kind"], type: "counter", help: "Requests answered, by kind: read, update", values: numbers("kind", { read: "zk_cnt_readlatency", update: "zk_cnt_updatelatency" }) },
  { name: "sluice_zk_server_fsync_seconds_total",  labels: ["server"],         type: "counter", help: "Time spent on making the transaction log durable", values: number("zk_sum_fsynctime", MS) },
  { name: "sluice_zk_server_fsyncs_total",         labels: ["server"],         type: "counter", help: "Times the transaction log was made durable", values: number("zk_cnt_fsynctime") },
];
