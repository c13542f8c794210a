import { setTimeout as delay } from "node:timers/promises";
import type { Wait } from "@sluice/safe-io";

/** Ends early when the signal fires; who waited looks at it. */
export const realWait: Wait = (ms, signal) =>
  delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
