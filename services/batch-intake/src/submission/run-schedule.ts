/** Who submits when a deposit for later runs: its maker, if they still may. */
import { type Authentication, inScope, may } from "@sluice/access";
import { type Depositor, depositorOf } from "./depositor.ts";
import { nameOfDepositor, type Schedules } from "./schedule.ts";
import type { Sealed } from "./sealed.ts";

export interface RunPorts {
  readonly schedules: Schedules;
  readonly callerById: (id: string) => Promise<Authentication>;
}

export type Run =
  | { readonly kind: "submit"; readonly batch: Sealed["batch"]; readonly depositor: Depositor; readonly key: string }
  | { readonly kind: "none" }
  /** For good: the same run is not asked for again. `ended`: nor is any other, the schedule has ended. */
  | { readonly kind: "refused" | "ended"; readonly why: string }
  | { readonly kind: "silence"; readonly why: string };

export async function runOf({ schedules, callerById }: RunPorts, id: number, run: number): Promise<Run> {
  const kept = await schedules.sealedOf(id);
  if (!kept.ok)
    return kept.kind === "refused" && kept.refusal.status === 404
      ? { kind: "none" }
      : { kind: "silence", why: "the job queue does not answer" };
  const { name, data } = kept.value;
  const { batch, by, request } = data.sealed;
  const own = nameOfDepositor(by);
  if (name !== own && !name.startsWith(`${own}/`))
    return { kind: "ended", why: "this schedule does not bear the name of who made it" };
  if (run !== data.runs + 1)
    return { kind: "refused", why: `run ${run} is not the next one, which is ${data.runs + 1}` };
  const found = await callerById(by.id);
  if (found.kind === "silence")
    return { kind: "silence", why: "whether its maker still may cannot be checked just now" };
  if (found.kind !== "caller")
    return {
      kind: "ended",
      why: `${by.name} made this schedule: ${found.kind === "refused" ? found.why : "unknown"}`,
    };
  const allowed = may(found.caller, "submit");
  if (!allowed.ok) return { kind: "ended", why: allowed.why };
  if (!inScope(found.caller.scope, batch.profile))
    return { kind: "ended", why: `${by.name} may no longer submit to ${batch.profile}` };
  return { kind: "submit", batch, depositor: depositorOf(found.caller), key: `scheduled-${request}-run-${run}` };
}
