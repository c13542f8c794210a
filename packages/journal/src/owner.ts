/**
 * One process owns a journal. The kernel keeps the claim: a listening socket whose name is the folder itself (its device
 * and inode, so that two paths to one folder are one), which goes with the process, however it ends.
 */
import { readFile, stat, unlink, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { hasCode } from "./error.ts";

export interface Ownership {
  release(): Promise<void>;
}

/** Who it is, for the message that the next one gets. */
const CARD = "owner.json";

/** Ownership, or a sentence about who has it. */
export async function takeOwnership(folder: string): Promise<Ownership | string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  const server = await claim(`sluice-journal-${dev}-${ino}`);
  if (server === null) return `the journal ${folder} belongs to a running process${await ownerOf(folder)}`;
  await writeFile(join(folder, CARD), JSON.stringify({ pid: process.pid, host: hostname() }));
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

async function ownerOf(folder: string): Promise<string> {
  const card = await readFile(join(folder, CARD), "utf8").catch(() => "");
  return card === "" ? "" : `: ${card}`;
}

/** null = somebody has it. */
async function claim(name: string): Promise<Server | null> {
  // Linux has names without a file; elsewhere the file of a dead process is in the way and is removed.
  if (process.platform === "linux") return listen(`\0${name}`);
  const path = join(tmpdir(), `${name}.sock`);
  const server = await listen(path);
  if (server !== null || (await answers(path))) return server;
  await unlink(path);
  return listen(path);
}

function listen(path: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => (hasCode(error, "EADDRINUSE") ? resolve(null) : reject(error)));
    server.listen({ path }, () => resolve(server.unref()));
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("close", () => socket.destroy());
  });
}
