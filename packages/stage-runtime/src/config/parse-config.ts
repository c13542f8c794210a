import type { z } from "zod";
import { EXIT } from "../service/exit-codes.ts";
import { type Environment, readConfig } from "./read-config.ts";
import type { Relation } from "./relations.ts";

/** What a wrong configuration ends in; tests pass their own. */
export interface Terminal {
  readonly complain: (text: string) => void;
  readonly exit: (code: number) => never;
}

const processTerminal: Terminal = {
  complain: (text) => void process.stderr.write(text),
  exit: (code) => process.exit(code),
};

/** Reads a service's settings, or lists all that is wrong with them and ends the process before it touches anything. */
export function parseConfig<S extends z.ZodObject>(
  service: string,
  schema: S,
  env: Environment,
  relations: readonly Relation[] = [],
  terminal: Terminal = processTerminal,
): Readonly<z.output<S>> {
  const result = readConfig(schema, env, { relations });
  if (result.ok) return result.config;
  terminal.complain(`${service}: wrong configuration\n${result.problems.map((line) => `  ${line}\n`).join("")}`);
  return terminal.exit(EXIT.configuration);
}
