import type { Egress } from "@sluice/safe-io";
import type { HostLimits } from "./host-limits.ts";

/** The size that a server gives for a file, undefined if it gives none for whatever reason. Never rejects. */
export type HeadSize = (url: string, profile: string, signal: AbortSignal) => Promise<number | undefined>;

export function headSize(egress: Egress, limits: HostLimits, timeoutMs: number): HeadSize {
  return (url, profile, signal) =>
    limits.run(hostOf(url), async () => {
      if (signal.aborted) return undefined;
      const answer = await egress.head(url, { profile, signal, totalTimeoutMs: timeoutMs });
      if (!answer.ok) return undefined;
      const { contentLength } = answer.value;
      await answer.value.text(); // of a HEAD: empty, but it must be read for the connection to be used again
      return contentLength;
    });
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "");
