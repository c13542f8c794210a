import { makeEventStreams, type StreamChange } from "@sluice/http-api";
import type { QueueContext } from "@sluice/queue-core";
import { makeQueueReader } from "../../queue-reader.ts";
import type { ReadingDeps } from "./deps.ts";
import { makeLive } from "./live.ts";
import type { Archive, LookupParts } from "./lookup.ts";

/** How old news may be. */
const LIVE_EVERY_MS = 1_000;

export interface ReadingOptions {
  /** The queue of the present session; null while there is none. */
  readonly queue: () => QueueContext | null;
  readonly archive: Archive | null;
  readonly backlog: LookupParts["backlog"];
  readonly onStream?: (change: StreamChange) => void;
  readonly liveEveryMs?: number;
}

export function openReading({ queue, archive, backlog, onStream, liveEveryMs }: ReadingOptions): ReadingDeps {
  const reader = makeQueueReader(queue);
  return {
    reader,
    archive,
    backlog,
    live: makeLive({ readSigns: (things) => reader.readSigns(things), everyMs: liveEveryMs ?? LIVE_EVERY_MS }),
    streams: makeEventStreams(onStream === undefined ? {} : { onChange: onStream }),
  };
}
