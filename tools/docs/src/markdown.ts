export const generatedFrom = (source: string): string =>
  `<!-- Generated from ${source} by \`npm run docs\`. Do not edit. -->\n`;

export function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}
