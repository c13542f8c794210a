import type { Job } from "../records.ts";
import { isPending } from "../states.ts";

/** The children of one parent. */
export interface Family {
  readonly ids: Set<number>;
  readonly pending: Set<number>;
  /** FINISHED or CANCELLED: the parent has not seen their end yet. */
  readonly ended: Set<number>;
}

const NO_FAMILY: Family = { ids: new Set(), pending: new Set(), ended: new Set() };

/** Who is whose child, and which of them have ended: no counter is written for it. */
export class Families {
  readonly #families = new Map<number, Family>();

  of(parent: number): Family {
    return this.#families.get(parent) ?? NO_FAMILY;
  }

  join(id: number, { parent, state }: Job): void {
    if (parent === undefined) return;
    let family = this.#families.get(parent);
    if (family === undefined) {
      family = { ids: new Set(), pending: new Set(), ended: new Set() };
      this.#families.set(parent, family);
    }
    family.ids.add(id);
    if (isPending(state)) family.pending.add(id);
    if (state === "FINISHED" || state === "CANCELLED") family.ended.add(id);
  }

  leave(id: number, { parent }: Job): void {
    const family = parent === undefined ? undefined : this.#families.get(parent);
    if (parent === undefined || family === undefined) return;
    for (const set of [family.ids, family.pending, family.ended]) set.delete(id);
    if (family.ids.size === 0) this.#families.delete(parent);
  }
}
