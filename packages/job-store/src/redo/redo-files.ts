/**
 * Files of the redo log, `redo/START.EPOCH.WRITER.log`: one writer each, begun at a time, of one epoch of the fleet. Those that nobody
 * needs any more go: by age, and by the bytes of all of them, the oldest first.
 */
import { readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";

export interface RedoFile {
  readonly name: string;
  readonly startMs: number;
  readonly epoch: number;
}

const NAME = /^(\d{13,16})\.(\d{1,15})\.[\w-]{1,64}\.log$/;

export const redoName = (startMs: number, epoch: number, writer: string): string =>
  `${String(startMs).padStart(13, "0")}.${epoch}.${writer}.log`;

/** Oldest first; none of a folder that is not there. */
export async function listRedo(folder: string): Promise<readonly RedoFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  const files = names.flatMap((name) => {
    const [, start, epoch] = NAME.exec(name) ?? [];
    return start === undefined || epoch === undefined ? [] : [{ name, startMs: Number(start), epoch: Number(epoch) }];
  });
  return files.sort((a, b) => a.startMs - b.startMs || (a.name < b.name ? -1 : 1));
}

export interface RedoBounds {
  /** A file that was last written to longer ago is needed by no snapshot. */
  readonly keepMs: number;
  /** Of all writers together. */
  readonly maxBytes: number;
}

export interface Pruned {
  readonly files: number;
  /** What was written until then went for want of room: a snapshot must be younger. Null: nothing did. */
  readonly cutMs: number | null;
}

/** Several processes may do it at once: what is gone is gone. */
export async function pruneRedo(folder: string, { keepMs, maxBytes }: RedoBounds, nowMs: number): Promise<Pruned> {
  const files = await Promise.all(
    (await listRedo(folder)).map(async (file) => ({ file, facts: await factsOf(join(folder, file.name)) })),
  );
  let left = files.reduce((sum, { facts }) => sum + (facts?.bytes ?? 0), 0);
  let [gone, cutMs] = [0, null as number | null];
  for (const [n, { file, facts }] of files.entries()) {
    if (facts === null) continue;
    const isOld = facts.changedMs < nowMs - keepMs;
    // The newest may be the one that is written to.
    const isTooMuch = left > maxBytes && n < files.length - 1;
    if (!isOld && !isTooMuch) continue;
    await unlink(join(folder, file.name)).catch((error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw error;
    });
    left -= facts.bytes;
    gone += 1;
    if (!isOld) cutMs = Math.max(cutMs ?? 0, facts.changedMs);
  }
  return { files: gone, cutMs };
}

async function factsOf(path: string): Promise<{ readonly bytes: number; readonly changedMs: number } | null> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { bytes: size, changedMs: mtimeMs };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
