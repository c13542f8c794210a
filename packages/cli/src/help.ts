/** Help, from the table of commands. Pure. */
import { type Argument, type Command, COMMON_OPTIONS, nameOf, type Option } from "./command.ts";
import { EXIT, EXIT_SAYS } from "./exit-codes.ts";
import { pad } from "./output/text.ts";

export const argumentText = ({ name, many, optional }: Argument): string => {
  const text = `${name}${many === true ? "…" : ""}`;
  return optional === true ? `[${text}]` : text;
};

export const optionText = ({ name, short, value }: Option): string =>
  `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;

export const usageOf = (command: Command): string =>
  ["sluice", nameOf(command), ...(command.takes ?? []).map(argumentText), "[options]"].join(" ");

const columns = (rows: readonly (readonly [string, string])[]): readonly string[] => {
  const width = rows.reduce((most, [left]) => Math.max(most, left.length), 0);
  return rows.map(([left, right]) => `  ${pad(left, width)}  ${right}`);
};

export const optionSays = ({ says, choices }: Option): string =>
  choices === undefined || choices.length > 15 ? says : `${says}: ${choices.join(", ")}`;

const optionRows = (options: readonly Option[]): readonly string[] =>
  columns(options.map((option) => [optionText(option), optionSays(option)]));

const visible = (commands: readonly Command[]): readonly Command[] => commands.filter(({ hidden }) => hidden !== true);

/** In a list of many only the first sentence. */
const brief = ({ says }: Command): string => says.split(". ")[0] ?? "";

const listing = (commands: readonly Command[]): readonly string[] =>
  columns(
    visible(commands).map((command) => [
      [nameOf(command), ...(command.takes ?? []).map(argumentText)].join(" "),
      brief(command),
    ]),
  );

export function helpFor(about: readonly string[], commands: readonly Command[]): readonly string[] {
  const command = commands.find((each) => nameOf(each) === about.join(" "));
  if (command !== undefined) return commandHelp(command);
  const ofNoun = commands.filter(({ words }) => words[0] === about[0]);
  if (ofNoun.length > 0)
    return [`sluice ${about[0] ?? ""} …`, "", ...listing(ofNoun), "", "Options of one: sluice NOUN VERB --help"];
  return [
    "sluice: deposits and the fleet from a terminal",
    "",
    ...listing(commands),
    "",
    "Options of every command:",
    ...optionRows(COMMON_OPTIONS),
    "",
    "Settings: SLUICE_INTAKE_URL, SLUICE_ADMIN_URL, SLUICE_JOBS_URL, SLUICE_TOKEN, SLUICE_CONTEXT, SLUICE_CONFIG, NO_COLOR.",
    "",
    "Exit codes:",
    ...columns(Object.entries(EXIT).map(([name, code]) => [String(code), EXIT_SAYS[name as keyof typeof EXIT]])),
  ];
}

function commandHelp(command: Command): readonly string[] {
  const own = command.options ?? [];
  return [
    command.says,
    "",
    `  ${usageOf(command)}`,
    "",
    ...(own.length === 0 ? [] : ["Options:", ...optionRows(own), ""]),
    "Options of every command:",
    ...optionRows(COMMON_OPTIONS),
    "",
    command.examples.length === 1 ? "Example:" : "Examples:",
    ...command.examples.map((example) => `  sluice ${example}`),
    ...(command.permission === undefined ? [] : ["", `Needs the permission ${command.permission}.`]),
  ];
}
