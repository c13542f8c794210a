import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PROFILES = fileURLToPath(new URL("../sample/profiles/", import.meta.url));
const FOLDERS = ["logs", "queue", "profiles", "store", "outbox", "zookeeper"];

/** Makes the folders and puts the demo's profiles there; a profile that was edited stays as it is. */
export async function prepareDataFolder(dataDir: string): Promise<void> {
  for (const folder of FOLDERS) await mkdir(join(dataDir, folder), { recursive: true });
  const there = new Set(await readdir(join(dataDir, "profiles")));
  for (const name of await readdir(PROFILES)) {
    if (!there.has(name)) await copyFile(join(PROFILES, name), join(dataDir, "profiles", name));
  }
}
