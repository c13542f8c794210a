import type { EventStreams } from "@sluice/http-api";
import type { Live } from "./live.ts";
import type { LookupParts } from "./lookup.ts";

/** What those need who look at the queue. */
export interface ReadingDeps extends LookupParts {
  readonly live: Live;
  readonly streams: EventStreams;
}
