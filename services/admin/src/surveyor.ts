import type { OpenQueue } from "@sluice/stage-runtime";
import type { Clock } from "@sluice/zookeeper";
import { readSurvey } from "./read-survey.ts";
import { sharedLook } from "./shared-look.ts";
import type { FleetSurvey } from "./survey.ts";

export interface Surveyor {
  /** The fleet as it was at most `maxAgeMs` ago; null while ZooKeeper does not answer. */
  readonly survey: () => Promise<FleetSurvey | null>;
}

/** However many scrape and look at once, ZooKeeper is asked once per `maxAgeMs`. */
export function makeSurveyor(queue: () => OpenQueue | null, clock: Clock, maxAgeMs: number): Surveyor {
  const look = async (): Promise<FleetSurvey | null> => {
    const open = queue();
    return open === null ? null : await readSurvey(open.context.session, open.identity.history, clock.nowMs());
  };
  const shared = sharedLook(look, clock, maxAgeMs);
  return { survey: () => (queue() === null ? Promise.resolve(null) : shared()) };
}
