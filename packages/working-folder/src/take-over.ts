import type { ContainedFolder } from "@sluice/safe-io";

/**
 * Moves a finished file of an earlier claim into this one, if it is what it should be. Files get their name only when
 * they are whole, so nobody writes to them any more, not even a worker that does not know yet that it lost its claim.
 * False: no earlier claim has a good one, or somebody else was faster.
 */
export async function takeOver(
  target: ContainedFolder,
  earlier: readonly ContainedFolder[],
  name: string,
  isGood: (folder: ContainedFolder, name: string) => Promise<boolean>,
): Promise<boolean> {
  for (const folder of earlier) {
    if (!(await folder.stat(name)).ok || !(await isGood(folder, name))) continue;
    if ((await folder.move(name, target, name)).ok) return true;
  }
  return false;
}
