/** Services that die by kill -9 at named steps, one after the other, and are started again each time. */
import { waitFor } from "@sluice/testkit";
import type { Fleet, Running, ServiceName } from "./fleet.ts";

/** In the order in which a service dies at them; one without steps runs freely. */
export type Steps = Readonly<Partial<Record<ServiceName, readonly string[]>>>;

export interface Deaths {
  /** The first process of each service. */
  readonly first: ReadonlyMap<ServiceName, Running>;
  /** Waits until all have died at all their steps, then for no more deaths; says at which steps each really died. */
  settle(): Promise<Record<string, readonly string[]>>;
}

const doomedAt = (service: ServiceName, step: string | undefined): Record<string, string> =>
  step === undefined ? {} : { FAILPOINTS: `${service}.${step}=kill#1` };

export async function startDying(fleet: Fleet, services: readonly ServiceName[], steps: Steps): Promise<Deaths> {
  let count = 0;
  let finish: (word: string) => void = () => undefined;
  const enough = new Promise<string>((resolve) => (finish = resolve));
  const first = new Map<ServiceName, Running>();
  for (const service of services) {
    first.set(service, await fleet.start(service, doomedAt(service, steps[service]?.[0])));
  }

  /** As a supervisor would, it starts again whatever ended, also where it did not end at a step. */
  async function dieAtEach(service: ServiceName, running: Running, finished: () => void): Promise<readonly string[]> {
    const died: string[] = [];
    const wanted = steps[service] ?? [];
    let now = running;
    for (;;) {
      if (died.length === wanted.length) finished();
      const how = await Promise.race([now.child.exited, enough]);
      if (how === "enough") return died;
      const step = wanted[died.length];
      if (how === "signal SIGKILL" && step !== undefined) {
        died.push(step);
        count += 1;
      }
      now = await fleet.start(service, doomedAt(service, wanted[died.length]));
    }
  }

  const left = new Set(first.keys());
  const deaths = [...first].map(async ([service, running]) => {
    return [service, await dieAtEach(service, running, () => left.delete(service))] as const;
  });
  // A fleet that was stopped starts nothing again; the reason is in the test that failed.
  for (const each of deaths) each.catch(() => undefined);
  return {
    first,
    settle: async () => {
      // From the last death on: what has not died by then will not. What is missing shows in the answer.
      await waitFor(() => left.size === 0, { progress: () => count }).catch(() => undefined);
      finish("enough");
      return Object.fromEntries(await Promise.all(deaths));
    },
  };
}
