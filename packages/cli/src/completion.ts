/** Completion scripts: words and options from the table, values that change asked for with the hidden `__complete`. Pure. */
import { type Argument, type Command, COMMON_OPTIONS, nameOf, type Option } from "./command.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

const visible = (commands: readonly Command[]): readonly Command[] => commands.filter(({ hidden }) => hidden !== true);
const nounsOf = (commands: readonly Command[]): readonly string[] => [
  ...new Set(visible(commands).map(({ words }) => words[0])),
];
const verbsOf = (commands: readonly Command[], noun: string): readonly string[] =>
  visible(commands).flatMap(({ words }) => (words[0] === noun && words[1] !== undefined ? [words[1]] : []));
const optionsOf = ({ options }: Command): readonly Option[] => [...(options ?? []), ...COMMON_OPTIONS];

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return `#compdef sluice\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
    case "fish":
      return fish(commands);
  }
}

/** The words after an option, or in an argument's place. */
const bashValues = ({ choices, dynamic }: Pick<Option, "choices" | "dynamic">): string =>
  choices !== undefined
    ? `_sluice_words "${choices.join(" ")}"`
    : dynamic !== undefined
      ? `_sluice_words "$(sluice __complete ${dynamic} 2>/dev/null)"`
      : 'COMPREPLY=( $(compgen -f -- "$cur") )';

function bash(commands: readonly Command[]): string {
  const all = visible(commands);
  const options = new Map(
    [...COMMON_OPTIONS, ...all.flatMap((each) => each.options ?? [])].map((each) => [each.name, each]),
  );
  const takingValues = [...options.values()].filter(({ value }) => value !== undefined);
  const flags = (option: Option): string =>
    [`--${option.name}`, ...(option.short === undefined ? [] : [`-${option.short}`])].join("|");
  return [
    "# sluice: completion for bash. In ~/.bashrc: source <(sluice completion bash)",
    '_sluice_words() { COMPREPLY=( $(compgen -W "$1" -- "$cur") ); }',
    "_sluice() {",
    "  local cur prev noun verb word skip i",
    '  cur="${COMP_WORDS[COMP_CWORD]}"',
    '  prev="${COMP_WORDS[COMP_CWORD-1]}"',
    "  COMPREPLY=()",
    '  case "$prev" in',
    ...takingValues.map((option) => `    ${flags(option)}) ${bashValues(option)}; return ;;`),
    "  esac",
    "  noun=''; verb=''; skip=''",
    "  for (( i = 1; i < COMP_CWORD; i++ )); do",
    '    word="${COMP_WORDS[i]}"',
    "    if [[ -n $skip ]]; then skip=''; continue; fi",
    '    case "$word" in',
    `      ${takingValues.map(flags).join("|")}) skip=1 ;;`,
    "      -*) ;;",
    '      *) if [[ -z $noun ]]; then noun="$word"; elif [[ -z $verb ]]; then verb="$word"; fi ;;',
    "    esac",
    "  done",
    "  if [[ -z $noun && $cur != -* ]]; then",
    `    _sluice_words "${nounsOf(all).join(" ")}"; return`,
    "  fi",
    '  case "$noun" in',
    ...nounsOf(all)
      .map((noun) => [noun, verbsOf(all, noun)] as const)
      .filter(([, verbs]) => verbs.length > 0)
      .map(
        ([noun, verbs]) =>
          `    ${noun}) if [[ -z $verb && $cur != -* ]]; then _sluice_words "${verbs.join(" ")}"; return; fi ;;`,
      ),
    "    *) verb='' ;;",
    "  esac",
    '  case "$noun${verb:+ $verb}" in',
    ...all.map((command) => bashCommand(command)),
    `    *) _sluice_words "${COMMON_OPTIONS.map(({ name }) => `--${name}`).join(" ")}" ;;`,
    "  esac",
    "}",
    "complete -o default -F _sluice sluice",
    "",
  ].join("\n");
}

function bashCommand(command: Command): string {
  const words = optionsOf(command)
    .map(({ name }) => `--${name}`)
    .join(" ");
  const [argument] = command.takes ?? [];
  const values = argument === undefined ? "" : ` else ${bashValues(argument)};`;
  return `    '${nameOf(command)}') if [[ $cur == -* ]]; then _sluice_words "${words}";${values} fi ;;`;
}

const single = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const fishValues = ({ choices, dynamic }: Pick<Option & Argument, "choices" | "dynamic">): string =>
  choices !== undefined
    ? ` -xa ${single(choices.join(" "))}`
    : dynamic !== undefined
      ? ` -xa ${single(`(sluice __complete ${dynamic})`)}`
      : "";

function fishOption(option: Option): string {
  const short = option.short === undefined ? "" : ` -s ${option.short}`;
  const values = option.value === undefined ? "" : fishValues(option) || " -r";
  return ` -l ${option.name}${short}${values} -d ${single(option.says)}`;
}

function fish(commands: readonly Command[]): string {
  const all = visible(commands);
  const seen = (word: string): string => `__fish_seen_subcommand_from ${word}`;
  const lines = [
    "# sluice: completion for fish. sluice completion fish > ~/.config/fish/completions/sluice.fish",
    "complete -c sluice -f",
    ...COMMON_OPTIONS.map((option) => `complete -c sluice${fishOption(option)}`),
  ];
  for (const noun of nounsOf(all)) {
    const verbs = verbsOf(all, noun);
    const says = all.find(({ words }) => words.length === 1 && words[0] === noun)?.says ?? verbs.join(", ");
    lines.push(`complete -c sluice -n __fish_use_subcommand -a ${noun} -d ${single(says)}`);
    for (const command of all.filter(({ words }) => words[0] === noun)) {
      const [, verb] = command.words;
      const here = single(verb === undefined ? seen(noun) : `${seen(noun)}; and ${seen(verb)}`);
      if (verb !== undefined)
        lines.push(
          `complete -c sluice -n ${single(`${seen(noun)}; and not ${seen(verbs.join(" "))}`)} -a ${verb} -d ${single(command.says)}`,
        );
      const [argument] = command.takes ?? [];
      if (argument?.file === true) lines.push(`complete -c sluice -n ${here} -F`);
      else if (argument !== undefined && fishValues(argument) !== "")
        lines.push(`complete -c sluice -n ${here}${fishValues(argument)}`);
      for (const option of command.options ?? []) lines.push(`complete -c sluice -n ${here}${fishOption(option)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
