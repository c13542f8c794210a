/** Every command, in the order of the help. */
import type { Command } from "../command.ts";
import { TOP_COMMAND } from "../top/top.ts";
import { BATCH_ACTION_COMMANDS } from "./batch-actions.ts";
import { BATCH_COMMANDS } from "./batches.ts";
import { BESIDE_COMMANDS } from "./beside.ts";
import { CONTEXT_COMMANDS } from "./contexts.ts";
import { DEPOSIT_SCHEDULE_COMMANDS } from "./deposit-schedules.ts";
import { DOCTOR_COMMAND } from "./doctor.ts";
import { FLEET_COMMANDS } from "./fleet.ts";
import { HANDLER_COMMANDS } from "./handlers.ts";
import { HOUSE_COMMANDS } from "./house.ts";
import { TOKEN_COMMANDS } from "./tokens.ts";
import { IMPORT_COMMAND } from "./import.ts";
import { INIT_COMMAND } from "./init.ts";
import { JOB_ACTION_COMMANDS } from "./job-actions.ts";
import { JOB_COMMANDS } from "./jobs.ts";
import { LOST_COMMAND } from "./lost.ts";
import { MANIFEST_COMMAND } from "./manifest.ts";
import { OPERATION_COMMANDS } from "./operations.ts";
import { QUEUED_JOB_ACTION_COMMANDS } from "./queued-job-actions.ts";
import { QUEUED_JOB_COMMANDS } from "./queued-jobs.ts";
import { SCHEDULE_COMMANDS } from "./schedules.ts";
import { SECURE_COMMAND } from "./secure.ts";
import { shellCommands } from "./shell.ts";
import { SNAPSHOT_COMMANDS } from "./snapshots.ts";
import { SUBMIT_COMMAND } from "./submit.ts";
import { SWITCH_COMMANDS } from "./switches.ts";
import { FSCK_COMMAND } from "./tree.ts";

const NOUNS = [
  ...["batch", "job", "operation", "collection", "queue", "stage", "worker", "deposits"],
  // The general job queue.
  ...["q", "schedule", "handler", "runner", "tenant"],
];

/** Verbs of a noun stand together, whichever file they come from. */
const grouped = (commands: readonly Command[]): readonly Command[] =>
  NOUNS.flatMap((noun) => commands.filter(({ words }) => words.length === 2 && words[0] === noun));

export const COMMANDS: readonly Command[] = [
  SUBMIT_COMMAND,
  MANIFEST_COMMAND,
  TOP_COMMAND,
  DOCTOR_COMMAND,
  ...grouped([
    ...BATCH_COMMANDS,
    ...BATCH_ACTION_COMMANDS,
    ...JOB_COMMANDS,
    ...JOB_ACTION_COMMANDS,
    ...OPERATION_COMMANDS,
    ...FLEET_COMMANDS,
    ...SWITCH_COMMANDS,
    ...QUEUED_JOB_COMMANDS,
    ...QUEUED_JOB_ACTION_COMMANDS,
    ...SCHEDULE_COMMANDS,
    ...DEPOSIT_SCHEDULE_COMMANDS,
    ...HANDLER_COMMANDS,
  ]),
  ...JOB_COMMANDS.filter(({ words }) => words.length === 1),
  INIT_COMMAND,
  FSCK_COMMAND,
  ...SNAPSHOT_COMMANDS,
  LOST_COMMAND,
  SECURE_COMMAND,
  IMPORT_COMMAND,
  ...BESIDE_COMMANDS,
  ...HOUSE_COMMANDS,
  ...TOKEN_COMMANDS,
  ...CONTEXT_COMMANDS,
  ...shellCommands(() => COMMANDS),
];
