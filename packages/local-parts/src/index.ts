export { startChild, type Child, type ChildOptions } from "./child.ts";
export { findTool, type ToolQuery, type ToolResult } from "./find-tool.ts";
export { freePort, isPortFree } from "./free-port.ts";
export type { Log } from "./log.ts";
export { type RunningMariaDb, startMariaDb } from "./mariadb.ts";
export { findPrometheus, findPromtool, type RunningPrometheus, startPrometheus } from "./prometheus.ts";
export { skipUnless, type SkipOptions } from "./skip.ts";
export { startZooKeeper } from "./zookeeper/start.ts";
export type { RunningZooKeeper, ServerTls, ZooKeeperOptions, ZooKeeperSource } from "./zookeeper/types.ts";
