import type { OpenQueue } from "@sluice/stage-runtime";
import type { Clock } from "@sluice/zookeeper";
import { readSurvey } from "./read-survey.ts";
import type { FleetSurvey } from "./survey.ts";

export interface Surveyor {
  /** The fleet as it was at most `maxAgeMs` ago; null while ZooKeeper does not answer. */
  readonly survey: () => Promise<FleetSurvey | null>;
}

/** However many scrape and look at once, ZooKeeper is asked once per `maxAgeMs`. */
export function makeSurveyor(queue: () => OpenQueue | null, clock: Clock, maxAgeMs: number): Surveyor {
  let reading: Promise<FleetSurvey | null> | null = null;
  let last: { readonly survey: FleetSurvey; readonly atMs: number } | null = null;
  const read = async (): Promise<FleetSurvey | null> => {
    const open = queue();
    const survey = open === null ? null : await readSurvey(open.context.session, open.fleetId, clock.nowMs());
    last = survey === null ? null : { survey, atMs: clock.monotonicMs() };
    return survey;
  };
  return {
    survey: () => {
      if (last !== null && queue() !== null && clock.monotonicMs() - last.atMs < maxAgeMs)
        return Promise.resolve(last.survey);
      reading ??= read().finally(() => (reading = null));
      return reading;
    },
  };
}
