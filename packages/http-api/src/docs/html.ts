/** Text that becomes HTML: everything is escaped unless it is HTML already. */

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | null | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char);

function printed(part: Part): string {
  if (part === null) return "";
  if (part instanceof Html) return part.text;
  return typeof part === "object" ? part.map(printed).join("") : escaped(String(part));
}

export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((text, i) => text + printed(parts[i] ?? null)).join(""));

/** Plain prose in which `words` between backticks are code. */
export const prose = (text: string): Html =>
  html`${text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
