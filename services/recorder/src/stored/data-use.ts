/** mrt-dua.txt: the terms on which others may use an object. */
import { type AnvlElement, describeProblem, parseAnvl } from "@sluice/ingest-formats";
import { APPLICABILITIES, type DataUseAgreement, OBLIGATIONS, PERSISTENCES } from "@sluice/inventory";

export type ParsedDataUse =
  { readonly ok: true; readonly dataUse: DataUseAgreement } | { readonly ok: false; readonly problem: string };

/** Terms that nobody can read must not become free use: what is wrong is refused, and what is not said is asked for. */
export function parseDataUse(text: string, template: string | null): ParsedDataUse {
  const anvl = parseAnvl(joined(text));
  if (!anvl.ok) return { ok: false, problem: anvl.problems.map(describeProblem).join("; ") };
  const given = labelled(anvl.value);
  const problems: string[] = [];
  const mustSay = (label: string): string => {
    const value = given.get(label.toLowerCase()) ?? "";
    if (value === "") problems.push(`it has no ${label}`);
    return value;
  };
  const oneOf = <T extends string>(label: string, choices: readonly [T, ...T[]]): T => {
    const value = given.get(label.toLowerCase())?.toLowerCase();
    const choice = value === undefined ? choices[0] : choices.find((each) => each === value);
    if (choice === undefined) problems.push(`${label} is none of ${choices.join(", ")}`);
    return choice ?? choices[0];
  };
  const dataUse: DataUseAgreement = {
    identifier: given.get("identifier") ?? null,
    title: mustSay("Title"),
    terms: mustSay("Terms"),
    template,
    accept: oneOf("Accept", OBLIGATIONS),
    name: oneOf("Name", OBLIGATIONS),
    affiliation: oneOf("Affiliation", OBLIGATIONS),
    email: oneOf("Email", OBLIGATIONS),
    applicability: oneOf("Applicability", APPLICABILITIES),
    persistence: oneOf("Persistence", PERSISTENCES),
    notification: given.get("notification") ?? "",
  };
  return problems.length === 0 ? { ok: true, dataUse } : { ok: false, problem: problems.join("; ") };
}

/** Merritt reads it as Java properties, where a backslash at the end of a line continues it. */
const joined = (text: string): string => text.replaceAll(/\\\r?\n[ \t]*/g, "");

const labelled = (elements: readonly AnvlElement[]): ReadonlyMap<string, string> =>
  new Map(elements.filter(({ value }) => value !== "").map(({ label, value }) => [label.toLowerCase(), value]));
