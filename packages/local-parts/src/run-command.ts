import { spawn } from "node:child_process";

export interface CommandResult {
  readonly ok: boolean;
  /** Both streams, in the order they came. */
  readonly output: string;
}

export interface CommandOptions {
  readonly signal?: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command to its end. A command that cannot be started is a failed one, not an exception. */
export const runCommand = (command: string, args: readonly string[], options: CommandOptions = {}) =>
  new Promise<CommandResult>((resolve) => {
    const chunks: Buffer[] = [];
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    const output = (): string => Buffer.concat(chunks).toString("utf8").trim();
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.once("error", (error) => resolve({ ok: false, output: `${output()}\n${error.message}`.trim() }));
    child.once("close", (code) => resolve({ ok: code === 0, output: output() }));
  });

export const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";
