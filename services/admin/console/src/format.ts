/** Numbers, sizes and times in words. Pure. */
const whole = new Intl.NumberFormat("en");
const SECOND = 1;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const count = (n: number): string => whole.format(n);

export const many = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`;

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

export function bytes(n: number): string {
  let value = n;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

/** Two units at most: nobody reads the third. */
export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < MINUTE) return `${s} s`;
  if (s < HOUR) return pair(s, MINUTE, "min", SECOND, "s", 10 * MINUTE);
  if (s < DAY) return pair(s, HOUR, "h", MINUTE, "min", 10 * HOUR);
  return pair(s, DAY, "d", HOUR, "h", 10 * DAY);
}

/** From `coarseFrom` on the smaller unit is left out. */
function pair(s: number, big: number, bigName: string, small: number, smallName: string, coarseFrom: number): string {
  const rest = Math.floor((s % big) / small);
  const head = `${Math.floor(s / big)} ${bigName}`;
  return rest === 0 || s >= coarseFrom ? head : `${head} ${rest} ${smallName}`;
}

/** One unit: how long ago something was is read at a glance, and exactly in its title. */
function roughly(seconds: number): string {
  const [unit, name] = (
    [
      [DAY, "d"],
      [HOUR, "h"],
      [MINUTE, "min"],
    ] as const
  ).find(([size]) => seconds >= size) ?? [SECOND, "s"];
  return `${Math.floor(seconds / unit)} ${name}`;
}

export function ago(iso: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(iso)) / 1000;
  // Clocks differ a little: what has just happened may seem to be ahead.
  if (Math.abs(seconds) < 5) return "just now";
  return seconds > 0 ? `${roughly(seconds)} ago` : `in ${roughly(-seconds)}`;
}

/** Local time for people, with its offset, so that it can be compared with a log. */
export const absolute = (iso: string): string =>
  new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long" });

export const percent = (part: number, total: number): number =>
  total <= 0 ? 0 : Math.min(100, Math.round((part / total) * 100));

/** Messages of failures begin with their code, which is shown in words besides. */
export const withoutCode = (message: string, code: string | null): string =>
  code !== null && message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;

/** "update-reporting" → "Update reporting" */
export function sentence(name: string): string {
  const words = name.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
