import type { Duty } from "../duty.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import type { Scope } from "../engine/scope.ts";
import { startJobStage } from "../jobs/job-loop.ts";
import { startBatchStage } from "./batch-stage.ts";
import { startInbox } from "./inbox.ts";
import { startSweep } from "./sweep.ts";

export function startDuty(duty: Duty, scope: Scope): RunningDuty {
  switch (duty.kind) {
    case "job-stage":
      return startJobStage(duty, scope);
    case "batch-stage":
      return startBatchStage(duty, scope);
    case "inbox":
      return startInbox(duty, scope);
    case "sweep":
      return startSweep(duty, scope);
  }
}
