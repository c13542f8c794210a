/** Contexts: where services are and who asks, saved under a name. Tokens are never shown. */
import { type Command, toNobody } from "../command.ts";
import { type Context, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Given } from "../given.ts";
import { orMaybe } from "../near.ts";
import { type Config, readConfigFile, type SavedContext, writeConfigFile } from "../settings/config-file.ts";
import { findPlace } from "../settings/place.ts";
import { resolve } from "node:path";

const NAME = { name: "NAME", dynamic: "context" } as const;
const local = { talksTo: toNobody } as const;

type Read =
  | { readonly ok: true; readonly config: Config; readonly path: string }
  | { readonly ok: false; readonly code: ExitCode };

async function read(context: Context): Promise<Read> {
  const file = await readConfigFile(context.io);
  if (!file.ok) return { ok: false, code: stop(context, EXIT.error, file.why, "mend or remove that file") };
  for (const warning of file.warnings) context.printer.note(warning);
  return file;
}

const tokenText = ({ token, token_file: file }: SavedContext): string =>
  file !== undefined ? `in ${file}` : token !== undefined ? "saved" : "";

/** What may be shown of it. */
const shown = (name: string, { intake, admin, jobs, ...rest }: SavedContext, current: boolean) => ({
  name,
  current,
  intake: intake ?? null,
  admin: admin ?? null,
  jobs: jobs ?? null,
  token: tokenText(rest) || null,
});

const unknown = (context: Context, name: string, config: Config): ExitCode =>
  stop(
    context,
    EXIT.notFound,
    `there is no context ${name}${orMaybe(name, Object.keys(config.contexts))}`,
    `sluice context set ${name} --admin-url URL --intake-url URL --token-file FILE`,
  );

export const CONTEXT_COMMANDS: readonly Command[] = [
  {
    ...local,
    words: ["context", "list"],
    says: "The saved contexts",
    examples: ["context list"],
    async run(context) {
      const file = await read(context);
      if (!file.ok) return file.code;
      const items = Object.entries(file.config.contexts).map(([name, saved]) =>
        shown(name, saved, name === file.config.current),
      );
      context.printer.list({
        raw: { items },
        items,
        columns: [
          { title: "", of: ({ current }) => (current ? "*" : " ") },
          { title: "NAME", of: ({ name }) => name },
          { title: "ADMIN", of: ({ admin }) => admin ?? "" },
          { title: "INTAKE", of: ({ intake }) => intake ?? "" },
          { title: "JOBS", of: ({ jobs }) => jobs ?? "" },
          { title: "TOKEN", of: ({ token }) => token ?? "" },
        ],
        nameOf: ({ name }) => name,
        none: `No contexts in ${file.path}; sluice context set NAME makes one.`,
      });
      return EXIT.ok;
    },
  },
  {
    ...local,
    words: ["context", "show"],
    says: "Where commands go to now, and why there",
    examples: ["context show"],
    async run(context) {
      const placed = await findPlace(context.io, context.given, undefined);
      if (!placed.ok) return stop(context, EXIT.notFound, placed.why);
      const { intake, admin, jobs, token, source } = placed.place;
      const raw = { admin, intake, jobs, token: token !== null, source };
      context.printer.show(raw, source, (printer) =>
        printer.fields([
          ["From", source],
          ["Admin", admin ?? "not set"],
          ["Intake", intake ?? "not set"],
          ["Jobs", jobs ?? "not set"],
          ["Token", token === null ? "none" : "set (not shown)"],
        ]),
      );
      return EXIT.ok;
    },
  },
  {
    ...local,
    words: ["context", "set"],
    says: "Save a context: addresses, and a file with its token (or --token-stdin); the first one becomes current",
    takes: [NAME],
    options: [{ name: "token-stdin", says: "read the token from stdin and save it" }],
    examples: ["context set production --admin-url https://admin.example.org --intake-url https://ingest.example.org"],
    async run(context) {
      const { args, given, io, printer } = context;
      const [name = ""] = args;
      const file = await read(context);
      if (!file.ok) return file.code;
      const token = given.has("token-stdin") ? (await io.readStdin()).trim() : undefined;
      if (token === "") return stop(context, EXIT.usage, "stdin has no token");
      const config = withContext(file.config, name, given, token, io.cwd);
      if (Object.keys(config.contexts[name] ?? {}).length === 0)
        return stop(
          context,
          EXIT.usage,
          "nothing to save",
          "add --admin-url, --intake-url, --jobs-url, --token-file or --token-stdin",
        );
      await writeConfigFile(file.path, config);
      printer.done(
        shown(name, config.contexts[name] ?? {}, config.current === name),
        name,
        `context ${name} is saved in ${file.path}`,
      );
      return EXIT.ok;
    },
  },
  {
    ...local,
    words: ["context", "use"],
    says: "Make a context the current one",
    takes: [NAME],
    examples: ["context use production"],
    async run(context) {
      const [name = ""] = context.args;
      const file = await read(context);
      if (!file.ok) return file.code;
      if (file.config.contexts[name] === undefined) return unknown(context, name, file.config);
      await writeConfigFile(file.path, { ...file.config, current: name });
      context.printer.done({ current: name }, name, `context ${name} is current`);
      return EXIT.ok;
    },
  },
  {
    ...local,
    words: ["context", "delete"],
    says: "Forget a context",
    takes: [NAME],
    examples: ["context delete production"],
    async run(context) {
      const [name = ""] = context.args;
      const file = await read(context);
      if (!file.ok) return file.code;
      const { [name]: gone, ...contexts } = file.config.contexts;
      if (gone === undefined) return unknown(context, name, file.config);
      const { current, ...rest } = file.config;
      await writeConfigFile(file.path, {
        ...rest,
        contexts,
        ...(current === name || current === undefined ? {} : { current }),
      });
      context.printer.done({ deleted: name }, name, `context ${name} is forgotten`);
      return EXIT.ok;
    },
  },
];

/** What is given replaces what was saved; a token replaces the other kind of token. */
export function withContext(
  config: Config,
  name: string,
  given: Given,
  token: string | undefined,
  cwd: string,
): Config {
  const { token: oldToken, token_file: oldFile, ...rest } = config.contexts[name] ?? {};
  const [admin, intake, jobs] = [given.text("admin-url"), given.text("intake-url"), given.text("jobs-url")];
  const file = given.text("token-file");
  const tokens: SavedContext =
    token !== undefined
      ? { token }
      : file !== undefined
        ? { token_file: resolve(cwd, file) }
        : {
            ...(oldToken === undefined ? {} : { token: oldToken }),
            ...(oldFile === undefined ? {} : { token_file: oldFile }),
          };
  const saved: SavedContext = {
    ...rest,
    ...(admin === undefined ? {} : { admin }),
    ...(intake === undefined ? {} : { intake }),
    ...(jobs === undefined ? {} : { jobs }),
    ...tokens,
  };
  return { current: config.current ?? name, contexts: { ...config.contexts, [name]: saved } };
}
