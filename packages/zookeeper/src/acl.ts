/** One entry of a node's access list, as ZooKeeper has it. */
export interface Acl {
  readonly permissions: number;
  readonly scheme: string;
  readonly id: string;
}

/** ZooKeeper's bits. `create` and `delete` are about a node's children, `admin` is the right to change the list itself. */
export const RIGHTS = { read: 1, write: 2, create: 4, delete: 8, admin: 16, all: 31 } as const;

export const OPEN_ACL: readonly Acl[] = [{ permissions: RIGHTS.all, scheme: "world", id: "anyone" }];

/** Who may do what with a node that a session creates. Paths are the session's own, below its chroot. */
export type AclOf = (path: string) => readonly Acl[];

export const openToEveryone: AclOf = () => OPEN_ACL;

export type Identity = Pick<Acl, "scheme" | "id">;

/**
 * Nodes for those as whom this session is known, and for readers. `auth` is ZooKeeper's word for the former: the server
 * itself puts in the identities it has verified on this connection, and refuses the node if there are none. So no name
 * is spelled twice, and a session that nobody vouches for cannot make a node at all.
 */
export function ownAcl(readers: readonly Identity[], rightsOf: (path: string) => number): AclOf {
  const known = new Map<number, readonly Acl[]>();
  return (path) => {
    const permissions = rightsOf(path);
    const before = known.get(permissions);
    if (before !== undefined) return before;
    const acl = [
      { permissions, scheme: "auth", id: "" },
      ...readers.map((reader) => ({ ...reader, permissions: RIGHTS.read })),
    ];
    known.set(permissions, acl);
    return acl;
  };
}

export const isOpen = (acl: readonly Acl[]): boolean => acl.some(({ scheme }) => scheme === "world");

/** What the list takes in a request. */
export const aclBytes = (acl: readonly Acl[]): number =>
  acl.reduce((sum, { scheme, id }) => sum + 12 + Buffer.byteLength(scheme) + Buffer.byteLength(id), 4);
