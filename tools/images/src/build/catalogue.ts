/** Which images there are: a service each, and two that are none. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

export interface ImageRow {
  /** Package @sluice/NAME, image sluice/NAME. */
  readonly name: string;
  /** Stage of the Dockerfile. */
  readonly target: "service" | "cli";
}

export async function allImages(root: string): Promise<readonly ImageRow[]> {
  const services = (await readdir(join(root, "services"), { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  );
  return [
    ...services.map(({ name }): ImageRow => ({ name, target: "service" })),
    { name: "mail-catcher", target: "service" },
    { name: "cli", target: "cli" },
  ];
}
