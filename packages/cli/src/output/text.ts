/** Text for terminals: what others wrote never moves a cursor, and columns know how wide it is. */

/** Control characters, and those that turn the direction of writing. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** One line. */
export const safe = (text: string): string => text.replaceAll(/[\r\n\t]+/g, " ").replaceAll(UNSAFE, "\ufffd");

/** Several. */
export const safeLines = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => safe(line))
    .join("\n");

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/u;

/** Columns that it takes: a grapheme takes one, East Asian ones and emoji two. */
export function widthOf(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += WIDE.test(segment) ? 2 : 1;
    if (width > columns - 1) break;
    kept += segment;
  }
  return columns < 1 ? "" : `${kept}…`;
}

export const pad = (text: string, columns: number, right = false): string => {
  const space = " ".repeat(Math.max(0, columns - widthOf(text)));
  return right ? `${space}${text}` : `${text}${space}`;
};

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

export function showBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) [value, unit] = [value / 1_000, unit + 1];
  return `${unit === 0 || value >= 99.5 ? value.toFixed(0) : value.toFixed(1)} ${BYTE_UNITS[unit] ?? ""}`;
}

export function showSeconds(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 120) return `${s}s`;
  if (s < 7_200) return `${Math.floor(s / 60)}m`;
  if (s < 172_800) return `${Math.floor(s / 3_600)}h`;
  return `${Math.floor(s / 86_400)}d`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
