/** ZooKeeper's operation numbers (ZooDefs.OpCode). */
export const OPCODE = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  setAcl: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  createContainer: 19,
  deleteContainer: 20,
  createTtl: 21,
  multiRead: 22,
  auth: 100,
  setWatches: 101,
  createSession: -10,
  closeSession: -11,
  error: -1,
} as const;

export type OpcodeName = keyof typeof OPCODE;

const NAMES = new Map<number, OpcodeName>(
  Object.entries(OPCODE).map(([name, code]) => [code, name as OpcodeName] as const),
);

export const opcodeName = (code: number): OpcodeName | `opcode ${number}` => NAMES.get(code) ?? `opcode ${code}`;
