/** `repeat` and `retryAfter` as they come in: checked, and kept as they were written. */
import { SCHEDULE_BYTES } from "../limits.ts";
import { parseModifiers } from "../time/modifiers.ts";
import { parseRepeat } from "../time/repeat.ts";
import { given, type Params } from "./params.ts";
import { type Status, STATUS } from "./statuses.ts";

const PARSERS = { repeat: parseRepeat, retryAfter: parseModifiers } as const;

/** An empty one is none. */
export function scheduleOf(params: Params, name: keyof typeof PARSERS): string | null | Status {
  const raw = given(params, name)?.trim() ?? "";
  if (raw === "") return null;
  const fits = Buffer.byteLength(raw) <= SCHEDULE_BYTES && PARSERS[name](raw) !== null;
  return fits ? raw : STATUS.malformed(name);
}
