/** What an operator should look at first, in sentences. Pure. */
import type { Overview } from "@sluice/wire";
import { bytes, duration, many } from "../format.ts";
import type { Tone } from "../ui/tones.ts";

export interface Remark {
  readonly tone: Tone;
  readonly text: string;
  readonly to: string;
  readonly link: string;
}

const OLD_SECONDS = 15 * 60;

export function remarksOn(now: Overview): readonly Remark[] {
  return [...noWorkers(now), ...oldJobs(now), ...fullVolume(now)];
}

const noWorkers = ({ stages }: Overview): readonly Remark[] =>
  stages
    .filter(({ workers, waiting }) => workers === 0 && waiting > 0)
    .map(({ stage, waiting }) => ({
      tone: "bad",
      text: `${many(waiting, "job waits", "jobs wait")} for ${stage}, and no worker of it is running.`,
      to: "/workers",
      link: "Workers",
    }));

const oldJobs = ({ stages, queue_paused }: Overview): readonly Remark[] =>
  stages
    .filter(
      ({ workers, oldest_ready_seconds, paused }) =>
        workers > 0 && paused === null && queue_paused === null && oldest_ready_seconds > OLD_SECONDS,
    )
    .map(({ stage, state, oldest_ready_seconds }) => ({
      tone: "warn",
      text: `The oldest ready job of ${stage} has waited for ${duration(oldest_ready_seconds)}.`,
      to: state === null ? "/batches" : `/jobs?state=${state}`,
      link: "Look",
    }));

function fullVolume({ space }: Overview): readonly Remark[] {
  if (space === null || space.volume_bytes - space.free_bytes < space.admit_below * space.volume_bytes) return [];
  return [
    {
      tone: "warn",
      text: `The working volume is full up to its limit (${bytes(space.free_bytes)} free): no job is admitted until others have ended.`,
      to: "/jobs",
      link: "Jobs",
    },
  ];
}
