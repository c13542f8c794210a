/** Which jobs an action is about: named ones, those that a filter finds, or those that stdin names. */
import { JOB_STATES } from "@sluice/queue-core";
import type { JobFilter } from "@sluice/wire";
import type { Option } from "../command.ts";
import { type Context, stop } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { Given } from "../given.ts";
import type { Asked } from "../interact/confirm.ts";
import { PROFILE_OPTION } from "./batches.ts";
import { BATCH_OPTION, ERROR_OPTION, SEARCH_OPTION, STATE_OPTION } from "./jobs.ts";

export const FILTER_OPTIONS: readonly Option[] = [
  STATE_OPTION,
  BATCH_OPTION,
  PROFILE_OPTION,
  { name: "submitter", value: "NAME", says: "of this submitter" },
  ERROR_OPTION,
  SEARCH_OPTION,
  { name: "priority-from", value: "N", kind: "number", says: "with this priority or a later one" },
  { name: "priority-to", value: "N", kind: "number", says: "with this priority or an earlier one" },
  { name: "older-than", value: "SPAN", kind: "seconds", says: "in their state for longer than 90s, 15m, 2h, 1d" },
];

export interface Chosen {
  readonly filter: JobFilter;
  /** The only one, named by itself. */
  readonly single: string | null;
}

export async function chooseJobs(context: Context): Promise<Asked<Chosen>> {
  const { args, given, io } = context;
  const stdin = args.includes("-") ? (await io.readStdin()).split(/\s+/).filter((word) => word !== "") : [];
  const ids = [...new Set([...args.filter((word) => word !== "-"), ...stdin])];
  const filter: JobFilter = { ...(ids.length === 0 ? {} : { ids }), ...filterOf(given) };
  if (Object.keys(filter).length === 0) {
    const why = args.includes("-") ? "stdin names no jobs" : "which jobs?";
    const next = "name them (- reads ids from stdin), or choose them, as with --state Failed --profile P";
    return { ok: false, code: stop(context, EXIT.usage, why, next) };
  }
  const single = ids.length === 1 && Object.keys(filter).length === 1 ? (ids[0] ?? null) : null;
  return { ok: true, value: { filter, single } };
}

function filterOf(given: Given): JobFilter {
  const states = JOB_STATES.filter((state) => given.texts("state").includes(state));
  const all = {
    states: states.length === 0 ? undefined : states,
    batch: given.text("batch"),
    profile: given.text("profile"),
    submitter: given.text("submitter"),
    error_code: given.text("error-code"),
    q: given.text("search"),
    priority_from: given.number("priority-from"),
    priority_to: given.number("priority-to"),
    older_than_seconds: given.seconds("older-than"),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
