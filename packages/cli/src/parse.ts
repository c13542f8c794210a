/** Words to a command and its values. Pure. */
import { parseArgs } from "node:util";
import { type Argument, type Command, COMMON_OPTIONS, nameOf, type Option } from "./command.ts";
import { Given, parseMoment, parseSeconds } from "./given.ts";
import { orMaybe } from "./near.ts";

export type ParsedLine =
  | { readonly kind: "run"; readonly command: Command; readonly args: readonly string[]; readonly given: Given }
  /** Of the command, of a noun with all its verbs, of everything. */
  | { readonly kind: "help"; readonly about: readonly string[] }
  | { readonly kind: "version" }
  | { readonly kind: "wrong"; readonly why: string; readonly about: readonly string[] };

type Values = Readonly<Record<string, readonly (string | boolean)[] | undefined>>;

export function parseLine(argv: readonly string[], commands: readonly Command[]): ParsedLine {
  const options = optionsOf(commands);
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      [...options.values()].map(({ name, short, value }) => [
        name,
        {
          type: value === undefined ? ("boolean" as const) : ("string" as const),
          multiple: true,
          ...(short === undefined ? {} : { short }),
        },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const found = commandIn(positionals, commands);
  if (values["version"] !== undefined && positionals.length === 0) return { kind: "version" };
  if (positionals.length === 0) return { kind: "help", about: [] };
  if (found.kind === "wrong") return found;
  if (found.kind === "noun")
    return values["help"] !== undefined || positionals.length === 1
      ? { kind: "help", about: found.about }
      : { kind: "wrong", why: found.why, about: found.about };
  const { command, args } = found;
  if (values["help"] !== undefined) return { kind: "help", about: command.words };
  const known = new Map([...COMMON_OPTIONS, ...(command.options ?? [])].map((each) => [each.name, each]));
  const wrong =
    tokens.flatMap((token) =>
      token.kind === "option" ? unknownOption(token.name, token.rawName, known, command) : [],
    )[0] ??
    [...known.values()].flatMap((option) => wrongValues(option, values))[0] ??
    wrongArguments(args, command.takes ?? [])[0];
  if (wrong !== undefined) return { kind: "wrong", why: wrong, about: command.words };
  return { kind: "run", command, args, given: givenOf(values, known) };
}

/** One namespace: an option has the same form wherever it is taken, so that it may stand anywhere in the line. */
export function optionsOf(commands: readonly Command[]): ReadonlyMap<string, Option> {
  const all = [...COMMON_OPTIONS, ...commands.flatMap(({ options }) => options ?? [])];
  return new Map(all.map((option) => [option.name, option]));
}

type Found =
  | { readonly kind: "command"; readonly command: Command; readonly args: readonly string[] }
  | { readonly kind: "noun"; readonly about: readonly string[]; readonly why: string }
  | { readonly kind: "wrong"; readonly why: string; readonly about: readonly string[] };

function commandIn(positionals: readonly string[], commands: readonly Command[]): Found {
  const [noun = "", verb = ""] = positionals;
  const one = commands.find(({ words }) => words.length === 1 && words[0] === noun);
  if (one !== undefined) return { kind: "command", command: one, args: positionals.slice(1) };
  const ofNoun = commands.filter(({ words }) => words[0] === noun);
  if (ofNoun.length === 0) {
    const nouns = [...new Set(commands.filter(({ hidden }) => hidden !== true).map(({ words }) => words[0]))];
    return { kind: "wrong", why: `there is no command ${noun}${orMaybe(noun, nouns)}`, about: [] };
  }
  const command = ofNoun.find(({ words }) => words[1] === verb);
  if (command !== undefined) return { kind: "command", command, args: positionals.slice(2) };
  const verbs = ofNoun.flatMap(({ words }) => words[1] ?? []);
  const why = `${noun} has no ${verb}${orMaybe(verb, verbs)} (it has ${verbs.join(", ")})`;
  return { kind: "noun", about: [noun], why };
}

function unknownOption(name: string, raw: string, known: ReadonlyMap<string, Option>, command: Command): string[] {
  if (known.has(name) || name === "version") return [];
  const near = orMaybe(
    `--${name}`,
    [...known.keys()].map((each) => `--${each}`),
  );
  return [`${nameOf(command)} does not take ${raw}${near}`];
}

function wrongValues(option: Option, values: Readonly<Record<string, unknown>>): readonly string[] {
  const given = (values[option.name] ?? []) as readonly (string | boolean)[];
  if (option.many !== true && option.value !== undefined && given.length > 1)
    return [`--${option.name} is given twice`];
  return given.flatMap((value) => {
    if (option.value === undefined) return typeof value === "string" ? [`--${option.name} takes no value`] : [];
    if (typeof value !== "string" || value === "") return [`--${option.name} takes a value: ${option.value}`];
    return wrongValue(option, value);
  });
}

function wrongValue({ name, kind, choices }: Option, value: string): readonly string[] {
  if (choices !== undefined && !choices.includes(value))
    return [`--${name} ${value}: expected one of ${choices.join(", ")}${orMaybe(value, choices)}`];
  switch (kind) {
    case "number":
      return /^\d{1,9}$/.test(value) ? [] : [`--${name} ${value}: expected a whole number`];
    case "seconds":
      return parseSeconds(value) !== null ? [] : [`--${name} ${value}: expected a span like 90s, 15m, 2h, 1d`];
    case "time":
      return parseMoment(value, 0) !== null
        ? []
        : [`--${name} ${value}: expected a time like 2026-11-17T06:00:00Z, or a span from now like 2h`];
    case "url":
      return /^https?:\/\/[^\s@]+$/.test(value)
        ? []
        : [`--${name}: expected an http or https address without a user name`];
    case "text":
    default:
      return [];
  }
}

function wrongArguments(args: readonly string[], takes: readonly Argument[]): readonly string[] {
  const needed = takes.filter(({ optional }) => optional !== true);
  const missing = needed[args.length];
  if (missing !== undefined) return [`${missing.name} is missing`];
  const most = takes.some(({ many }) => many === true) ? Infinity : takes.length;
  if (args.length > most) return [`too many words: ${args.slice(most).join(" ")}`];
  return takes.flatMap(({ choices, name }, i) => {
    const value = args[i];
    if (choices === undefined || value === undefined || choices.includes(value)) return [];
    return [`${name} ${value}: expected one of ${choices.join(", ")}${orMaybe(value, choices)}`];
  });
}

function givenOf(values: Values, known: ReadonlyMap<string, Option>): Given {
  const given = [...known.keys()].flatMap((name): (readonly [string, readonly string[]])[] => {
    const list = values[name];
    return list === undefined ? [] : [[name, list.filter((each) => typeof each === "string")]];
  });
  return new Given(new Map(given));
}
