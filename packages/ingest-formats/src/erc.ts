import { type AnvlElement, parseAnvl, printAnvl, UNASSIGNED } from "./anvl.ts";
import { mergeLocalIds, parseLocalIds, printLocalIds } from "./local-ids.ts";
import { type Parsed, parsed, refused } from "./problem.ts";

/** Who, what, when, where: the kernel metadata of mrt-erc.txt. Absent = unassigned. */
export interface Erc {
  readonly who?: string;
  readonly what?: string;
  readonly when?: string;
  readonly primaryId?: string;
  readonly localIds: readonly string[];
}

/** `(:unas)`, `(:unav)`, … are ERC's ways to say that there is no value. */
export const isUnassigned = (value: string): boolean => value === "" || /^\(:[a-z]+\)$/.test(value);

export function printErc(erc: Erc): string {
  const localIds = printLocalIds(erc.localIds);
  return printAnvl([
    { label: "erc", value: "" },
    { label: "who", value: erc.who ?? UNASSIGNED },
    { label: "what", value: erc.what ?? UNASSIGNED },
    { label: "when", value: erc.when ?? UNASSIGNED },
    { label: "where", value: erc.primaryId ?? UNASSIGNED },
    { label: "where", value: localIds === "" ? UNASSIGNED : localIds },
  ]);
}

/**
 * The first `where` that is an ARK is the primary id, every other one is a list of local ids. Repeated who, what and
 * when are joined by `; `, unknown elements are left out.
 */
export function parseErc(text: string): Parsed<Erc> {
  const anvl = parseAnvl(text);
  if (!anvl.ok) return anvl;
  if (!anvl.value.some(({ label }) => label.toLowerCase() === "erc")) {
    return refused({ code: "ERC_HEADER_MISSING", message: "there is no erc: line", column: "erc", expected: "erc:" });
  }
  const where = valuesOf(anvl.value, "where");
  const primaryId = where.find((value) => isArkLike(value));
  const localIds = mergeLocalIds(where.filter((value) => !isArkLike(value)).flatMap(parseLocalIds));
  return parsed({ ...textElements(anvl.value), ...(primaryId === undefined ? {} : { primaryId }), localIds });
}

/** Whether it is one is judged by whoever uses it: what looks like an ARK is never taken for a local id. */
const isArkLike = (value: string): boolean => /^ark:/i.test(value);

function textElements(elements: readonly AnvlElement[]): Pick<Erc, "who" | "what" | "when"> {
  const found: { who?: string; what?: string; when?: string } = {};
  for (const label of ["who", "what", "when"] as const) {
    const values = valuesOf(elements, label);
    if (values.length > 0) found[label] = values.join("; ");
  }
  return found;
}

const valuesOf = (elements: readonly AnvlElement[], label: string): string[] =>
  elements
    .filter((element) => element.label.toLowerCase() === label && !isUnassigned(element.value))
    .map((element) => element.value);
