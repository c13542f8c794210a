/** Completion scripts, and the values they ask for. */
import { ADMIN } from "@sluice/wire";
import { type Command, DYNAMIC, type Dynamic, toAdmin, toNobody } from "../command.ts";
import { completionScript, type Shell, SHELLS } from "../completion.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { readConfigFile } from "../settings/config-file.ts";

const RECENT = 30;
/** A shell that waits is worse than one that offers nothing. */
const PATIENCE_MS = 2_000;

export const shellCommands = (all: () => readonly Command[]): readonly Command[] => [
  {
    words: ["completion"],
    says: "A completion script for your shell",
    takes: [{ name: "SHELL", choices: SHELLS }],
    examples: ["completion bash"],
    talksTo: toNobody,
    run({ args, io }) {
      const shell: Shell = SHELLS.find((each) => each === args[0]) ?? "bash";
      io.stdout.write(completionScript(shell, all()));
      return Promise.resolve(EXIT.ok);
    },
  },
  {
    words: ["__complete"],
    says: "Values for completion scripts",
    takes: [{ name: "KIND", choices: DYNAMIC }],
    examples: ["__complete context"],
    permission: ADMIN.me.permission,
    talksTo: toAdmin,
    hidden: true,
    async run(context) {
      const kind = DYNAMIC.find((each) => each === context.args[0]);
      const values = kind === undefined ? [] : await VALUES[kind](context, AbortSignal.timeout(PATIENCE_MS));
      // Only words that a shell takes as one.
      for (const value of values.filter((each) => /^[\w.:@%+,/-]+$/.test(each))) context.io.stdout.write(`${value}\n`);
      return EXIT.ok;
    },
  },
];

type Values = (context: Context, signal: AbortSignal) => Promise<readonly string[]>;

const VALUES: Readonly<Record<Dynamic, Values>> = {
  async profile({ admin }, signal) {
    const answer = await admin.call(ADMIN.collections, { signal });
    return answer.ok ? answer.value.items.map(({ name }) => name) : [];
  },
  async batch({ admin }, signal) {
    const answer = await admin.call(ADMIN.batches, { query: { limit: RECENT }, signal });
    return answer.ok ? answer.value.items.map(({ bid }) => bid) : [];
  },
  async job({ admin }, signal) {
    const answer = await admin.call(ADMIN.jobs, { query: { limit: RECENT }, signal });
    return answer.ok ? answer.value.items.map(({ jid }) => jid) : [];
  },
  async worker({ admin }, signal) {
    const answer = await admin.call(ADMIN.workers, { signal });
    return answer.ok ? answer.value.items.map(({ id }) => id) : [];
  },
  async operation({ admin }, signal) {
    const answer = await admin.call(ADMIN.operations, { signal });
    return answer.ok ? answer.value.items.map(({ id }) => id) : [];
  },
  async token({ admin }, signal) {
    const answer = await admin.call(ADMIN.tokens, { signal });
    return answer.ok ? answer.value.items.map(({ id }) => id) : [];
  },
  async context({ io }) {
    const file = await readConfigFile(io);
    return file.ok ? Object.keys(file.config.contexts) : [];
  },
};
