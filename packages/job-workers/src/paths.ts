/** Where the registry stands in the tree of the general queue. */
const ROOT = "/fleet/queue";

export const paths = {
  /** From the top down, as they are made. */
  frame: ["/fleet", ROOT, `${ROOT}/workers`, `${ROOT}/dead-workers`, `${ROOT}/sysids`],
  workers: `${ROOT}/workers`,
  worker: (name: string) => `${ROOT}/workers/${name}`,
  alive: (name: string) => `${ROOT}/workers/${name}/alive`,
  /** What is still to be told of dead workers. */
  hooks: `${ROOT}/dead-workers`,
  hook: (id: string) => `${ROOT}/dead-workers/${id}`,
  sysids: `${ROOT}/sysids`,
  sysid: (sysid: number) => `${ROOT}/sysids/${sysid}`,
} as const;

/** Becomes a znode's name and stands in log lines. */
export const isWorkerName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
