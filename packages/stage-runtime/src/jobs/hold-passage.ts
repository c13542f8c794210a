/** Where the table has a place to park, a job of a held collection goes there; others prove that holds did not change. */
import { type Guard, holdsGuard, type LoadedJob, parkReason } from "@sluice/queue-core";
import type { Gate } from "../engine/gate.ts";
import type { Passage, Permit } from "./picker.ts";

const ASK_AGAIN_MS = 1_000;

export class HoldPassage implements Passage {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  before(loaded: LoadedJob): Promise<Permit> {
    return this.#permit(loaded);
  }

  after(loaded: LoadedJob, refused: Guard | null): Promise<Permit> {
    if (refused !== null) this.#gate.holdsChanged();
    return this.#permit(loaded);
  }

  async #permit({ job }: LoadedJob): Promise<Permit> {
    const holds = await this.#gate.holds();
    if (holds === null) return { kind: "wait", delayMs: ASK_AGAIN_MS, why: "the holds could not be read" };
    const profile = job.configuration.profile_name;
    if (holds.collections.has(profile))
      return { kind: "park", why: parkReason(holds, profile), guard: holdsGuard(holds) };
    return { kind: "go", guard: holdsGuard(holds) };
  }
}
