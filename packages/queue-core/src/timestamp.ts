/** CDL's timestamp, `yyyy-MM-dd HH:mm:ss Z`; ours is always UTC, any offset is read. */
export function formatTimestamp(ms: number): string {
  const iso = new Date(ms).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} +0000`;
}

const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?$/;

export function parseTimestamp(raw: string): number | null {
  const match = TIMESTAMP.exec(raw);
  if (match === null) return null;
  const offset = match[3] === undefined || match[3] === "Z" ? "Z" : match[3].replace(/^(...)(\d\d)$/, "$1:$2");
  const ms = Date.parse(`${match[1] ?? ""}T${match[2] ?? ""}${offset}`);
  return Number.isNaN(ms) ? null : ms;
}
