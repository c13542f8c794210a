/** The process: its streams, its Ctrl-C, its exit code. */
import { readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import type { Io, Sink } from "./io.ts";
import { run } from "./run.ts";

const interrupt = new AbortController();
/** The second Ctrl-C does not ask. */
process.on("SIGINT", () => {
  if (interrupt.signal.aborted) process.exit(130);
  interrupt.abort();
});
// `sluice job list | head`: whoever reads has had enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const sink = (stream: NodeJS.WriteStream): Sink => ({
  write: (words) => void stream.write(words),
  isTerminal: stream.isTTY,
  size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
});

const { stdin } = process;
const someoneIsThere = stdin.isTTY && process.stderr.isTTY;

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: process.stderr });
  try {
    return await lines.question(question, { signal: interrupt.signal });
  } catch {
    return "";
  } finally {
    lines.close();
  }
}

function onKey(listener: (key: string) => void): () => void {
  if (!stdin.isTTY) return () => undefined;
  const heard = (data: Buffer): void => listener(data.toString());
  stdin.setRawMode(true).resume().on("data", heard);
  return () => {
    stdin.off("data", heard).setRawMode(false).pause();
  };
}

function user(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}

const io: Io = {
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  user: user(),
  stdout: sink(process.stdout),
  stderr: sink(process.stderr),
  nowMs: Date.now,
  interrupted: interrupt.signal,
  ask: someoneIsThere ? ask : null,
  readStdin: () => text(stdin),
  onKey,
};

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
process.exitCode = await run(process.argv.slice(2), io, version);
