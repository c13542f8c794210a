/** What the fleet itself may do with a node, where ZooKeeper knows who we are. Readers may read, wherever it is. */
import { accessFrom, RIGHTS, type Access, type ZooKeeperSettings } from "@sluice/zookeeper";
import { paths } from "./paths.ts";

/** Kept everywhere: without it an access list could never be changed again, not even for a new password. */
const { read, create, delete: remove, admin, all } = RIGHTS;

const isAt = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory}/`);

/**
 * A lock or a hold is made and taken away, never rewritten. A record of the audit is made, and that is all: it is
 * neither rewritten nor taken away. What no code of ours does, no fault of it can do either.
 */
export function rightsOf(path: string): number {
  if (isAt(path, paths.locks)) return read | create | remove | admin;
  if (path === paths.audit || isAt(path, paths.auditRecords)) return read | create | admin;
  return all;
}

/** The access of whoever works on the queue: each node that is made belongs to the fleet, or, without settings, to everyone. */
export const queueAccess = (settings: ZooKeeperSettings): Access => accessFrom(settings, rightsOf);
