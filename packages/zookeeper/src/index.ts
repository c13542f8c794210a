export type {
  Answer,
  Applied,
  Clock,
  Fault,
  Found,
  MultiAnswer,
  Node,
  NodeAcl,
  Op,
  Read,
  EachAnswer,
  ReadAnswer,
  Refusal,
  Session,
  SessionState,
  Silence,
  Stat,
  Watch,
} from "./port.ts";
export { isSilence, systemClock } from "./port.ts";
export { OPEN_ACCESS, type Access } from "./access.ts";
export { isOpen, RIGHTS, type Acl, type AclOf, type Identity } from "./acl.ts";
export {
  makeCommitter,
  MOVE_RANKS,
  type Committer,
  type CommitterHooks,
  type GroupOutcome,
  type Move,
  type MoveAnswer,
  type MoveRank,
} from "./committer.ts";
export { ensureChroot } from "./chroot.ts";
export { createMissing } from "./create-missing.ts";
export type { Backoff } from "./backoff.ts";
export type { OperationName, SessionHooks } from "./hooks.ts";
export { keepSession, type KeeperOptions, type SessionKeeper } from "./keeper.ts";
export { MAX_REQUEST_BYTES } from "./limits.ts";
export { isLoopback, isThisMachine } from "./loopback.ts";
export { connectSession, openSession, type Opened, type SessionOptions } from "./open-session.ts";
export { parseConnect, pathProblem, type ConnectTarget, type Server } from "./paths.ts";
export { resolveUnknown, type Resolution } from "./unknown.ts";
export {
  accessFrom,
  readZooKeeperSettings,
  ZOOKEEPER_FIELDS,
  ZOOKEEPER_RELATIONS,
  type ReadSettings,
  type ZooKeeperSettings,
} from "./settings.ts";
