import { parseAnvl } from "./anvl.ts";
import { type Parsed, parsed, refused } from "./problem.ts";
import { quote } from "./text.ts";

/** mrt-embargo.txt. */
export interface Embargo {
  /** ISO 8601 as it was written; null when the producer says that there is none. */
  readonly endDate: string | null;
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?$/i;

/** One element, `embargoEndDate`: a date with its time, or `none`. Whatever else is there makes the deposit fail. */
export function parseEmbargo(text: string): Parsed<Embargo> {
  const anvl = parseAnvl(text);
  if (!anvl.ok) return anvl;
  const [first, ...others] = anvl.value;
  const value = first?.label.toLowerCase() === "embargoenddate" ? first.value : undefined;
  if (value === undefined || others.length > 0) {
    return wrong("it must hold embargoEndDate and nothing else");
  }
  if (value.toLowerCase() === "none") return parsed({ endDate: null });
  return DATE_TIME.test(value) && isCalendarDate(value)
    ? parsed({ endDate: value })
    : wrong(`${quote(value)} is no date`);
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isCalendarDate(value: string): boolean {
  const day = value.slice(0, 10);
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(Date.parse(value.toUpperCase())) && date.toISOString().slice(0, 10) === day;
}

const wrong = (message: string) =>
  refused({
    code: "EMBARGO_MALFORMED",
    message,
    column: "embargoEndDate",
    expected: "2027-12-31T00:00:00Z, with Z, +hh:mm or no zone, or none",
  });
