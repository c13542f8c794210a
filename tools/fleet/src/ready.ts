import { setTimeout as sleep } from "node:timers/promises";
import type { Instance } from "./instances.ts";

const POLL_MS = 200;

/** Returns when every process says that it is ready. */
export async function untilReady(instances: readonly Instance[], signal: AbortSignal): Promise<void> {
  await Promise.all(instances.map((instance) => untilOneReady(instance, signal)));
}

async function untilOneReady({ metricsUrl }: Instance, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const answer = await fetch(`${metricsUrl}/readyz`, { signal }).catch(() => null);
    if (answer?.ok === true) return;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
