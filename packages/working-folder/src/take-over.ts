import type { ContainedFolder } from "@sluice/safe-io";
import type { ClaimFolder } from "./working-folder.ts";

/**
 * Moves a finished file of an earlier claim into this one, if it is what it should be. Files get their name only when
 * they are whole, so nobody writes to them any more, not even a worker that does not know yet that it lost its claim.
 * False: no earlier claim has a good one, or somebody else was faster.
 */
export async function takeOver(
  claim: ClaimFolder,
  earlier: readonly ClaimFolder[],
  name: string,
  isGood: (folder: ContainedFolder, name: string) => Promise<boolean>,
): Promise<boolean> {
  for (const { producer } of earlier) {
    if (!(await producer.stat(name)).ok || !(await isGood(producer, name))) continue;
    if ((await producer.move(name, claim.producer, name)).ok) return true;
  }
  return false;
}
