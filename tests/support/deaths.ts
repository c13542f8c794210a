/** Services that die by kill -9 at named steps, one after the other, and are started again each time. */
import { waitFor } from "@sluice/testkit";
import type { Fleet, Running, ServiceName } from "./fleet.ts";

/** In the order in which a service dies at them; one without steps runs freely. */
export type Steps = Readonly<Partial<Record<ServiceName, readonly string[]>>>;

export interface Deaths {
  /** The first process of each service. */
  readonly first: ReadonlyMap<ServiceName, Running>;
  /** Waits until all have died at all their steps, then for no more deaths; says at which steps each really died. */
  settle(limitMs: number): Promise<Record<string, readonly string[]>>;
}

const doomedAt = (service: ServiceName, step: string | undefined): Record<string, string> =>
  step === undefined ? {} : { FAILPOINTS: `${service}.${step}=kill#1` };

export async function startDying(fleet: Fleet, services: readonly ServiceName[], steps: Steps): Promise<Deaths> {
  let finish: (word: string) => void = () => undefined;
  const enough = new Promise<string>((resolve) => (finish = resolve));
  const first = new Map<ServiceName, Running>();
  for (const service of services) {
    first.set(service, await fleet.start(service, doomedAt(service, steps[service]?.[0])));
  }

  async function dieAtEach(service: ServiceName, running: Running): Promise<readonly string[]> {
    const died: string[] = [];
    let now = running;
    for (const step of steps[service] ?? []) {
      if ((await Promise.race([now.child.exited, enough])) !== "signal SIGKILL") break;
      died.push(step);
      now = await fleet.start(service, doomedAt(service, steps[service]?.[died.length]));
    }
    return died;
  }

  const deaths = [...first].map(async ([service, running]) => [service, await dieAtEach(service, running)] as const);
  return {
    first,
    settle: async (limitMs) => {
      let all = false;
      void Promise.all(deaths).then(() => (all = true));
      await waitFor(() => all, { limitMs }).catch(() => undefined); // what is missing shows in the answer
      finish("enough");
      return Object.fromEntries(await Promise.all(deaths));
    },
  };
}
