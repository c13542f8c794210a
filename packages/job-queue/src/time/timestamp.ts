/** Times as the commands write them: "YYYY-MM-DD HH:MM:SS[.mmm]", UTC. */

/** The calendar of SQLite's date functions. */
export const EARLIEST_MS = Date.UTC(-4713, 10, 24, 12);
export const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
export const inCalendar = (ms: number): boolean => ms >= EARLIEST_MS && ms <= LATEST_MS;

/** The times of a job that comes and goes at once are mostly of one second. */
let lastShown = { second: NaN, text: "" };

/** Fractions of a second are shown when there are any. */
export function showTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastShown.second) lastShown = { second, text: wholeSeconds(second * 1000) };
  const fraction = ms - second * 1000;
  return fraction === 0 ? lastShown.text : `${lastShown.text}.${String(fraction).padStart(3, "0")}`;
}

function wholeSeconds(ms: number): string {
  const iso = new Date(ms).toISOString();
  // Years outside of 0 to 9999 have a sign and six digits.
  const date = iso.length === 24 ? iso : `${iso.startsWith("-") ? "-" : ""}${iso.slice(3)}`;
  const day = date.indexOf("T");
  return `${date.slice(0, day)} ${date.slice(day + 1, -5)}`;
}

export const showSeconds = (ms: number): string => showTime(ms - mod(ms, 1000));

/** Null for what is no time: a day that the month has not, an hour 24. */
export function parseTime(raw: string): number | null {
  const found = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?$/.exec(raw.trim());
  if (found === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part: string | undefined) => Number(part ?? 0));
  const ms = Number((found[7] ?? "").padEnd(3, "0"));
  if (hour > 23 || minute > 59 || second > 59) return null;
  const moment = utc(year, month - 1, day, hour * 3_600_000 + minute * 60_000 + second * 1000 + ms);
  const back = new Date(moment);
  return back.getUTCMonth() === month - 1 && back.getUTCDate() === day ? moment : null;
}

/** Date.UTC takes the years 0 to 99 for 1900 to 1999; this does not. */
export function utc(year: number, month: number, day: number, msOfDay: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  return date.getTime() + msOfDay;
}

export const mod = (value: number, by: number): number => ((value % by) + by) % by;
