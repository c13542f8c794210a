/** Tells what waits for room, and for whom room is kept: in the metrics at every round, in the log when it changes. */
import type { JobId } from "@sluice/queue-core";
import { type AdmissionCandidate, type AdmissionVerdicts, WAITS_FOR } from "../duty.ts";
import type { Scope } from "../engine/scope.ts";

export class KeptRoom {
  readonly #scope: Scope;
  #keeper: JobId | null = null;
  #tooLarge: ReadonlySet<JobId> = new Set();

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  tell(applicants: ReadonlyMap<JobId, AdmissionCandidate>, verdicts: AdmissionVerdicts): void {
    const { metrics, actor } = this.#scope;
    const waiting = [...verdicts].flatMap(([id, verdict]) => (verdict.admit ? [] : [{ id, ...verdict }]));
    for (const each of WAITS_FOR) {
      const jobs = waiting.filter(({ waitsFor }) => waitsFor === each).length;
      metrics.admissionWait.set({ stage: actor.stage, for: each }, jobs);
    }
    const keeper = waiting.find(({ waitsFor }) => waitsFor === "kept-room");
    const keptBytes = keeper === undefined ? 0 : (applicants.get(keeper.id)?.spaceNeeded ?? 0);
    metrics.keptRoom.set({ stage: actor.stage }, keptBytes);
    this.#logKeeper(keeper, keptBytes);
    this.#logTooLarge(waiting.filter(({ waitsFor }) => waitsFor === "larger-volume"));
  }

  #logKeeper(keeper: { readonly id: JobId; readonly why: string } | undefined, bytes: number): void {
    const before = this.#keeper;
    if (before === (keeper?.id ?? null)) return;
    this.#keeper = keeper?.id ?? null;
    if (keeper === undefined) this.#scope.log.info({ job_id: before }, "room is no longer kept for this job");
    else this.#scope.log.warn({ job_id: keeper.id, bytes, why: keeper.why }, "room is kept for an overdue job");
  }

  #logTooLarge(tooLarge: readonly { readonly id: JobId; readonly why: string }[]): void {
    for (const { id, why } of tooLarge)
      if (!this.#tooLarge.has(id)) this.#scope.log.warn({ job_id: id, why }, "a job is too large for the volume");
    this.#tooLarge = new Set(tooLarge.map(({ id }) => id));
  }
}
