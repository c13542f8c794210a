/** A provisioner over a volume of 100 bytes, all of which may be given away, in the order of priority. */
import type { AdmissionCandidate, AdmissionVerdicts, JobStage, Promised, Survey } from "../../src/index.ts";
import { done } from "../../src/index.ts";

type Verdict = AdmissionVerdicts extends ReadonlyMap<unknown, infer V> ? V : never;

export function decide(candidates: readonly AdmissionCandidate[], promised: Promised): AdmissionVerdicts {
  let left = 100 - promised.bytes;
  const judge = (spaceNeeded: number): Verdict => {
    if (spaceNeeded > left) return { admit: false, waitsFor: "room", why: `needs ${spaceNeeded}, ${left} left` };
    left -= spaceNeeded;
    return { admit: true };
  };
  const inOrder = [...candidates].sort(
    (a, b) => a.priority - b.priority || (a.turn ?? 0) - (b.turn ?? 0) || (a.id < b.id ? -1 : 1),
  );
  return new Map(inOrder.map(({ id, spaceNeeded }) => [id, judge(spaceNeeded)]));
}

export const wholeVolume = (): Promise<Survey> =>
  Promise.resolve({ totalBytes: 100, freeBytes: 100, uploadedBytes: 0 });

export const provisioning = (
  handle: JobStage["handle"] = () => Promise.resolve(done()),
  survey: () => Promise<Survey> = wholeVolume,
): JobStage => ({ kind: "job-stage", takes: "Provisioning", handle, admit: { survey, decide } });
