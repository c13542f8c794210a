import { IoError, volumeSpace } from "@sluice/safe-io";
import type { Survey } from "@sluice/stage-runtime";

/** Size and free bytes of the volume that holds `folder`. Rejects when they cannot be had: nothing is admitted blindly. */
export async function surveyVolume(folder: string): Promise<Survey> {
  const space = await volumeSpace(folder);
  if (!space.ok) throw new IoError(space.error);
  return space.value;
}
