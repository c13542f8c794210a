/** In a checkout: the development fleet that `npm start` runs says in data/fleet.json where it is. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";

const FleetFile = z.object({
  services: z.record(z.string(), z.string()),
  tokens: z.record(z.string(), z.string()).optional(),
});

export interface FoundFleet {
  readonly path: string;
  readonly intake: string | undefined;
  readonly admin: string | undefined;
  readonly jobs: string | undefined;
  readonly tokens: Readonly<Record<string, string>>;
}

/** Here, or in the folders above. */
export async function findFleet(cwd: string): Promise<FoundFleet | null> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, "data", "fleet.json");
    const found = await readFleet(path);
    if (found !== null) return { path, ...found };
    if (dirname(folder) === folder) return null;
  }
}

async function readFleet(path: string): Promise<Omit<FoundFleet, "path"> | null> {
  try {
    const { services, tokens } = FleetFile.parse(JSON.parse(await readFile(path, "utf8")));
    return {
      intake: services["batch-intake"],
      admin: services["admin"],
      jobs: services["job-api"],
      tokens: tokens ?? {},
    };
  } catch {
    return null;
  }
}
