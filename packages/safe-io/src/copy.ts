import type { ContainedFolder } from "./disk/contained-folder.ts";
import { pourInto, type Poured, type PourOptions } from "./disk/pour.ts";
import type { Outcome } from "./outcome.ts";
import { type Aside, endFile } from "./rejected.ts";

export interface CopyOptions extends PourOptions {
  /** Where content with another digest than expected is kept, as evidence; otherwise it is dropped. */
  readonly rejected?: Aside;
}

/** Copies a file from one folder to another, with the promises of a download: whole and right, or not there. */
export async function copyTo(
  source: ContainedFolder,
  sourceName: string,
  target: ContainedFolder,
  name: string,
  options: CopyOptions = {},
): Promise<Outcome<Poured>> {
  const stream = await source.readStream(sourceName);
  if (!stream.ok) return stream;
  const file = await target.begin(name);
  if (!file.ok) {
    stream.value.destroy();
    return file;
  }
  return endFile(file.value, await pourInto(stream.value, file.value, sourceName, options), options.rejected);
}
