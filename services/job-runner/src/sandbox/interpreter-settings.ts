/** `php,perl,lua=/usr/bin/lua5.4:/usr/share/lua`: the interpreters of a runner, as its setting names them. */
import { z } from "zod";

export interface AskedInterpreter {
  readonly name: string;
  /** Null: where the system has it. */
  readonly program: string | null;
  readonly folders: readonly string[];
}

const NAME = /^[a-z][a-z0-9.+-]{0,31}$/;
const OURS: readonly string[] = ["node", "http", "container"];
const PLACE = /^\/(?!$)/;

export const interpreterList = () =>
  z.string().transform((text, context): readonly AskedInterpreter[] => {
    const entries = text.split(",").map((entry) => entry.trim());
    return entries.filter((entry) => entry !== "").flatMap((entry) => readEntry(entry, context) ?? []);
  });

function readEntry(entry: string, context: z.RefinementCtx): AskedInterpreter | null {
  const [name = "", places] = entry.split("=", 2);
  const paths = places?.split(":") ?? [];
  const [program, ...folders] = paths;
  if (NAME.test(name) && !OURS.includes(name) && paths.every((path) => PLACE.test(path)))
    return { name, program: program ?? null, folders };
  context.addIssue({
    code: "custom",
    message: `${JSON.stringify(entry)} names no interpreter: write php, or lua=/usr/bin/lua5.4:/usr/share/lua (the program, then folders it reads)`,
  });
  return null;
}
