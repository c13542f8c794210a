/** Which images there are: a service each, and two that are none. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

export interface ImageRow {
  /** Package @sluice/NAME, image sluice/NAME. */
  readonly name: string;
  /** Stage of the Dockerfile. */
  readonly target: "service" | "cli";
}

/** The services of the fleet: every folder with a program. */
export async function allServices(root: string): Promise<readonly string[]> {
  const folders = await readdir(join(root, "services"));
  return folders.filter((name) => existsSync(join(root, "services", name, "src/main.ts"))).sort();
}

export async function allImages(root: string): Promise<readonly ImageRow[]> {
  return [
    ...(await allServices(root)).map((name): ImageRow => ({ name, target: "service" })),
    { name: "mail-catcher", target: "service" },
    { name: "cli", target: "cli" },
  ];
}
