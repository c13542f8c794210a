export { openRawSession, type RawSession } from "./raw-session.ts";
export { ownZooKeeper, testZooKeeper, type OwnZooKeeper, type TestZooKeeper } from "./test-zookeeper.ts";
