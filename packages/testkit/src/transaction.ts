/** What ZooKeeper's transaction log holds: every change that was accepted or refused, in the one order of the server. */

export type LoggedOp =
  | { readonly op: "create"; readonly path: string; readonly data: Buffer; readonly ephemeral: boolean }
  /** `version` is the new one. */
  | { readonly op: "set"; readonly path: string; readonly data: Buffer; readonly version: number }
  | { readonly op: "delete"; readonly path: string }
  /** `version` is the one that the node had. */
  | { readonly op: "check"; readonly path: string; readonly version: number };

export interface Transaction {
  readonly zxid: bigint;
  readonly session: bigint;
  /** Of the server's clock. */
  readonly timeMs: number;
  /**
   * write: `ops` were applied, all of them. refused: none was; the log does not keep which. close-session: `ops` are the
   * deletes of its ephemeral nodes, whether the client closed it or it expired.
   */
  readonly kind: "write" | "refused" | "create-session" | "close-session" | "other";
  readonly ops: readonly LoggedOp[];
}

/** Does it change or check anything at or below this path? */
export const touches = ({ ops }: Transaction, path: string): boolean => ops.some((op) => isUnder(op.path, path));

export const isUnder = (path: string, root: string): boolean =>
  root === "/" || path === root || path.startsWith(`${root}/`);
