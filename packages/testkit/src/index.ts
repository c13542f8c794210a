export { openRawSession, type RawSession } from "./raw-session.ts";
export { ownZooKeeper, testZooKeeper, type OwnZooKeeper, type TestZooKeeper } from "./test-zookeeper.ts";
export { readTransactions } from "./transaction-log.ts";
export { touches, type LoggedOp, type Transaction } from "./transaction.ts";
