import type { State } from "../states.ts";

interface TypeTally {
  readonly tenant: string;
  readonly name: string;
  readonly states: Map<State, number>;
}

/** How many jobs of each type are in each state, counted as they come and go. */
export class Tally {
  readonly #types = new Map<string, TypeTally>();

  add(tenant: string, name: string, state: State, by: 1 | -1): void {
    const key = `${tenant}/${name}`;
    let type = this.#types.get(key);
    if (type === undefined) this.#types.set(key, (type = { tenant, name, states: new Map() }));
    const count = (type.states.get(state) ?? 0) + by;
    if (count > 0) type.states.set(state, count);
    else type.states.delete(state);
    if (type.states.size === 0) this.#types.delete(key);
  }

  types(): Iterable<TypeTally> {
    return this.#types.values();
  }
}
