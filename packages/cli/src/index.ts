export { type Command, nameOf } from "./command.ts";
export { COMMANDS } from "./commands/all.ts";
export { EXIT, type ExitCode } from "./exit-codes.ts";
export type { Io, Sink } from "./io.ts";
export { describeCli } from "./markdown.ts";
export { run } from "./run.ts";
