/** Who asks, and the tables that everything else is drawn from. */
import { type Caller, may, PERMISSIONS, type Permission } from "@sluice/access";
import type { Operation } from "@sluice/http-api";
import {
  BATCH_ACTION_SAYS,
  BATCH_ACTIONS,
  BATCH_STATES,
  batchRow,
  ERROR_CODES,
  isLive,
  isMerritts,
  JOB_ACTION_SAYS,
  JOB_ACTIONS,
  JOB_STATES,
  jobRow,
  PIPELINE,
  type Reader,
} from "@sluice/queue-core";
import { ADMIN, type Model } from "@sluice/wire";
import { batchActions, jobActions } from "../views/details.ts";
import { readerOf } from "../views/reader.ts";
import type { AdminDeps } from "./deps.ts";
import { serve } from "./serve.ts";

const ALL = Object.keys(PERMISSIONS) as readonly Permission[];

const OF_TENANTS: readonly Permission[] = ["use-jobs", "see-jobs", "change-handlers"];

/** Who has no tenant has nothing to see of the job queue: the console need not offer it. */
const isOfUse = (permission: Permission, { tenants }: Pick<Caller, "tenants">): boolean =>
  tenants === "all" || tenants.length > 0 || !OF_TENANTS.includes(permission);

type YouDeps = Pick<AdminDeps, "settings" | "intakeUrl">;

export const youOperations = ({ settings, intakeUrl }: YouDeps): readonly Operation[] => [
  serve(ADMIN.me, ({ caller }) => ({
    value: {
      name: caller.name,
      role: caller.role,
      collections: caller.scope === "all" ? null : [...caller.scope],
      tenants: caller.tenants === "all" ? null : [...caller.tenants],
      permissions: ALL.filter((permission) => may(caller, permission).ok && isOfUse(permission, caller)),
    },
  })),
  serve(ADMIN.model, ({ caller }) => ({ value: modelOf({ settings, intakeUrl }, readerOf(caller)) })),
];

const modelOf = ({ settings, intakeUrl }: YouDeps, reader: Reader): Model => ({
  version: settings.version,
  pipeline: [...PIPELINE],
  job_states: JOB_STATES.map((state) => {
    const { owner, says } = jobRow(state);
    return { state, stage: owner, says, actions: jobActions(state), live: isLive(state), merritts: isMerritts(state) };
  }),
  batch_states: BATCH_STATES.map((state) => {
    const { says } = batchRow(state);
    return { state, says, actions: batchActions(state) };
  }),
  job_actions: JOB_ACTIONS.map((action) => ({ action, says: JOB_ACTION_SAYS[action] })),
  batch_actions: BATCH_ACTIONS.map((action) => ({ action, says: BATCH_ACTION_SAYS[action] })),
  errors: Object.entries(ERROR_CODES).map(([code, row]) => {
    const { says, resumable } = row;
    return { code, says, remedy: row[reader], resumable };
  }),
  schedules: intakeUrl !== null,
  development: settings.outboxDir !== null,
});
