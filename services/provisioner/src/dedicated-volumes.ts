import type { Job } from "@sluice/queue-core";

/** Where a job asks for a volume of its own (`resource_to_provision`): whoever makes such volumes stands behind this. */
export interface DedicatedVolumes {
  /**
   * Asks for the volume, and whether it stands. Asked again and again for the same job until it does, also after a
   * crash: the job's id is the key under which a request is made once.
   */
  provide(resource: string, job: Job, signal: AbortSignal): Promise<VolumeAnswer>;
}

export type VolumeAnswer =
  { readonly kind: "ready" } | { readonly kind: "not-yet"; readonly askAgainMs: number; readonly why: string };

/** Nobody makes volumes here: every job works on the shared one, whose space it had to pass for anyway. */
export const sharedVolumeOnly: DedicatedVolumes = {
  provide: () => Promise.resolve({ kind: "ready" }),
};
