/** How a service ends, for its supervisor (sysexits.h where it has a word for it). */
export const EXIT = {
  clean: 0,
  /** Starting again would not help. Not 1, with which Node ends on anything that was not caught. */
  configuration: 78,
  /** ZooKeeper never came; only where ZK_GIVE_UP_MS asks for it. */
  dependency: 69,
  /** A defect of ours, or a tree that is no longer the one we knew: start again from nothing. */
  internal: 70,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
