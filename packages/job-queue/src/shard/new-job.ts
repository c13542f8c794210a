/** One job of a CreateJob or CreateJobs, as it comes in. */
import { DATA_BYTES, NAME_BYTES } from "../limits.ts";
import { parseTime } from "../time/timestamp.ts";
import type { NewJob } from "./commands.ts";
import { NO_DATA, readData } from "./data.ts";
import { given, integer, isStatus, named, type Params, priorityOf } from "./params.ts";
import { scheduleOf } from "./schedule.ts";
import { type Status, STATUS } from "./statuses.ts";

export function readNewJob(params: Params): NewJob | Status {
  const name = named(params, "name", NAME_BYTES);
  if (isStatus(name)) return name;
  const priority = priorityOf(params, ["jobPriority", "priority"]);
  if (isStatus(priority)) return priority;
  const text = given(params, "data");
  if (text !== null && Buffer.byteLength(text) > DATA_BYTES) return STATUS.malformed("data");
  const data = text === null ? NO_DATA : readData(text);
  if (isStatus(data)) return data;
  const times = readTimes(params);
  if (isStatus(times)) return times;
  const unique = params.flag("unique");
  if (unique && times.retryAfter !== null) return STATUS.retryAfterAndUnique;
  const parent = readParent(params);
  if (isStatus(parent)) return parent;
  const onFinish = given(params, "onFinish") === null ? null : named(params, "onFinish", NAME_BYTES);
  if (isStatus(onFinish)) return onFinish;
  const mock = params.flag("mockRequest") || data.mock;
  const overwrite = ["", "true"].includes(params.text("overwrite") ?? "");
  return { name, priority, data, unique, overwrite, parent, mock, onFinish, ...times };
}

function readParent(params: Params): number | null | Status {
  if (given(params, "parentJobID") === null) return null;
  const id = integer(params, "parentJobID");
  // 0 is the document's word for no parent.
  return id === 0 ? null : id;
}

type Times = Pick<NewJob, "firstRun" | "repeat" | "retryAfter" | "maxRunTime">;

function readTimes(params: Params): Times | Status {
  const repeat = scheduleOf(params, "repeat");
  if (isStatus(repeat)) return repeat;
  const retryAfter = scheduleOf(params, "retryAfter");
  if (isStatus(retryAfter)) return retryAfter;
  if (repeat !== null && retryAfter !== null) return STATUS.retryAfterAndRepeat;
  const first = given(params, "firstRun");
  const firstRun = first === null ? null : parseTime(first);
  if (first !== null && firstRun === null) return STATUS.malformed("firstRun");
  const maxRunTime = given(params, "maxRunTime") === null ? null : integer(params, "maxRunTime");
  if (isStatus(maxRunTime)) return maxRunTime;
  if (maxRunTime !== null && maxRunTime < 1) return STATUS.malformed("maxRunTime");
  return { repeat, retryAfter, firstRun, maxRunTime };
}
