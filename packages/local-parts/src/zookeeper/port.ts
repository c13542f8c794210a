import { readFile } from "node:fs/promises";
import { freePort, isPortFree } from "../free-port.ts";
import { layoutOf } from "./configuration.ts";
import type { Request } from "./types.ts";

/** The port of the last start on these data, if free: clients that know it find the server again. */
export async function choosePort({ port, dataDir }: Request): Promise<number> {
  if (port !== null) return port;
  const remembered = await rememberedPort(dataDir);
  return remembered !== null && (await isPortFree(remembered)) ? remembered : freePort();
}

async function rememberedPort(dataDir: string): Promise<number | null> {
  const text = await readFile(layoutOf(dataDir).configFile, "utf8").catch(() => "");
  const match = /^(?:clientPort|secureClientPort)=(\d+)$/m.exec(text);
  return match === null ? null : Number(match[1]);
}
