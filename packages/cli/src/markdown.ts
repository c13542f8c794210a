/** docs/cli.md, from the table of commands. Pure. */
import { PERMISSIONS } from "@sluice/access";
import { type Command, COMMON_OPTIONS, nameOf, type Option } from "./command.ts";
import { COMMANDS } from "./commands/all.ts";
import { EXIT, EXIT_SAYS } from "./exit-codes.ts";
import { optionSays, optionText, usageOf } from "./help.ts";

const cell = (text: string): string => text.replaceAll("|", "\\|");

/** As prettier sets them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = head.map((title, i) =>
    rows.reduce((most, row) => Math.max(most, (row[i] ?? "").length), Math.max(3, title.length)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, i) => text.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)];
}

const optionTable = (options: readonly Option[]): readonly string[] =>
  table(
    ["option", "means"],
    options.map((option) => [`\`${cell(optionText(option))}\``, cell(optionSays(option))]),
  );

function section(command: Command): readonly string[] {
  const own = command.options ?? [];
  const { permission } = command;
  return [
    `### sluice ${nameOf(command)}`,
    "",
    `${command.says}.${permission === undefined ? "" : ` Takes the permission to ${PERMISSIONS[permission].means}.`}`,
    "",
    "```sh",
    usageOf(command),
    ...command.examples.map((example) => `sluice ${example}`),
    "```",
    "",
    ...(own.length === 0 ? [] : [...optionTable(own), ""]),
  ];
}

export function describeCli(): string {
  const commands = COMMANDS.filter(({ hidden }) => hidden !== true);
  const codes = Object.entries(EXIT).map(([name, code]) => [String(code), EXIT_SAYS[name as keyof typeof EXIT]]);
  return [
    "# The command `sluice`",
    "",
    "Generated from the table of commands in `packages/cli`. The first line of each block is its form, the others are examples that the",
    "tests run. How to set it up: [its README](../packages/cli/README.md).",
    "",
    "## Exit codes",
    "",
    ...table(["code", "means"], codes),
    "",
    "## Options of every command",
    "",
    ...optionTable(COMMON_OPTIONS),
    "",
    "## Commands",
    "",
    ...commands.flatMap(section),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}
