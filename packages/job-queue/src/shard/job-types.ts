import type { Job } from "../records.ts";
import type { State } from "../states.ts";

/** The jobs of one name, of one tenant, real or mocked. */
export interface JobType {
  readonly key: string;
  readonly tenant: string;
  readonly name: string;
  readonly mock: boolean;
  readonly ids: Set<number>;
  /** How many are in each state, counted as they come and go. */
  readonly states: Map<State, number>;
}

const keyOf = (tenant: string, name: string, mock: boolean): string => `${mock ? "m" : "r"}/${tenant}/${name}`;

export class JobTypes {
  readonly #types = new Map<string, JobType>();

  find(tenant: string, name: string, mock: boolean): JobType | null {
    return this.#types.get(keyOf(tenant, name, mock)) ?? null;
  }

  all(): Iterable<JobType> {
    return this.#types.values();
  }

  join(id: number, { tenant, name, mock }: Job): JobType {
    const key = keyOf(tenant, name, mock === true);
    let type = this.#types.get(key);
    if (type === undefined) {
      type = { key, tenant, name, mock: mock === true, ids: new Set(), states: new Map() };
      this.#types.set(key, type);
    }
    type.ids.add(id);
    return type;
  }

  leave(id: number, type: JobType): void {
    type.ids.delete(id);
    if (type.ids.size === 0) this.#types.delete(type.key);
  }
}

export function count({ states }: JobType, state: State, by: 1 | -1): void {
  const left = (states.get(state) ?? 0) + by;
  if (left > 0) states.set(state, left);
  else states.delete(state);
}
