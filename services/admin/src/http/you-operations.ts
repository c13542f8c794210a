/** Who asks, and the tables that everything else is drawn from. */
import { may, PERMISSIONS, type Permission } from "@sluice/access";
import type { Operation } from "@sluice/http-api";
import { BATCH_STATES, batchRow, ERROR_CODES, isFinal, isLive, JOB_STATES, jobRow, PIPELINE } from "@sluice/queue-core";
import { ADMIN, type Model } from "@sluice/wire";
import type { AdminDeps } from "./deps.ts";
import { serve } from "./serve.ts";

const ALL = Object.keys(PERMISSIONS) as readonly Permission[];

export const youOperations = ({ settings }: Pick<AdminDeps, "settings">): readonly Operation[] => [
  serve(ADMIN.me, ({ caller }) => ({
    value: {
      name: caller.name,
      role: caller.role,
      collections: caller.scope === "all" ? null : [...caller.scope],
      permissions: ALL.filter((permission) => may(caller, permission).ok),
    },
  })),
  serve(ADMIN.model, () => ({ value: modelOf(settings.version, settings.outboxDir !== null) })),
];

const modelOf = (version: string, development: boolean): Model => ({
  version,
  pipeline: [...PIPELINE],
  job_states: JOB_STATES.map((state) => {
    const { owner, says, operator } = jobRow(state);
    const actions = [...Object.keys(operator), ...(isFinal(state) ? [] : ["priority"])];
    return { state, stage: owner, says, actions, live: isLive(state) };
  }),
  batch_states: BATCH_STATES.map((state) => {
    const { says } = batchRow(state);
    return { state, says, actions: batchActions(state) };
  }),
  errors: Object.entries(ERROR_CODES).map(([code, { says, remedy, resumable }]) => ({ code, says, remedy, resumable })),
  development,
});

/** The table's, and cleaning up what is over before its time. */
export const batchActions = (state: (typeof BATCH_STATES)[number]): string[] => [
  ...Object.keys(batchRow(state).operator),
  ...(state === "Completed" || state === "Deleted" ? ["clean-up"] : []),
];
