/** What the engine did, for tests that wait for a signal instead of sleeping. Inert in production. */
import type { JobState } from "@sluice/queue-core";

export type ProbeEvent =
  | { readonly kind: "listed"; readonly path: string; readonly entries: number }
  | { readonly kind: "claimed"; readonly job: string }
  | { readonly kind: "settled"; readonly job: string; readonly outcome: string; readonly to: JobState | null }
  /** Nothing to do just now: the engine sleeps until a watch, a delay or the poll wakes it. */
  | { readonly kind: "idle"; readonly duty: string }
  | { readonly kind: "closed"; readonly duty: string; readonly why: string }
  | { readonly kind: "item"; readonly duty: string; readonly item: string; readonly outcome: string }
  | { readonly kind: "swept"; readonly duty: string }
  | { readonly kind: "session"; readonly state: "started" | "ended" }
  | { readonly kind: "service"; readonly state: string };

export type Probe = (event: ProbeEvent) => void;

export const noProbe: Probe = () => undefined;
