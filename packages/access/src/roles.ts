/** Who may do what: one table, from which API, console, CLI and documents take it. */
/** People's, and those who work for them. */
export const PEOPLES_ROLES = ["depositor", "viewer", "operator", "admin"] as const;
/**
 * Of services that ask others, each with what its work takes: the intake makes schedules; the runner runs jobs, and asks
 * intake and admin for what the fleet's own jobs do.
 */
export const SERVICES_ROLES = ["scheduler", "runner", "maintainer"] as const;
/** Of other teams' programs, which work the jobs of their stages. */
export const WORKERS_ROLES = ["worker"] as const;
export const ROLES = [...PEOPLES_ROLES, ...SERVICES_ROLES, ...WORKERS_ROLES] as const;
export type Role = (typeof ROLES)[number];

export interface PermissionRow {
  readonly roles: readonly Role[];
  /** It reaches beyond single collections: a caller who is bound to some may not. */
  readonly wholeFleet: boolean;
  /** It reaches beyond single tenants of the job queue: a caller who is bound to some may not. */
  readonly everyTenant?: true;
  readonly means: string;
}

/** Depositors work in their collections, viewers look, operators act, admins also change who may and what stands. */
export const PERMISSIONS = {
  submit: { roles: ["depositor", "operator", "admin"], wholeFleet: false, means: "submit deposits" },
  "see-deposits": {
    roles: [...PEOPLES_ROLES, "maintainer"],
    wholeFleet: false,
    means: "see batches and jobs of one's collections",
  },
  "see-fleet": { roles: ["viewer", "operator", "admin"], wholeFleet: false, means: "see stages, workers, holds" },
  "see-audit": { roles: ["viewer", "operator", "admin"], wholeFleet: true, means: "read the audit" },
  "see-nodes": { roles: ["operator", "admin"], wholeFleet: true, means: "look at raw znodes" },
  "act-on-deposits": {
    roles: ["operator", "admin"],
    wholeFleet: false,
    means: "hold, release, resume, fail, delete",
  },
  "clean-up-batches": {
    roles: ["operator", "admin", "maintainer"],
    wholeFleet: false,
    means: "have batches that ended cleaned up",
  },
  "act-on-fleet": { roles: ["operator", "admin"], wholeFleet: true, means: "pause queue and stages, drain workers" },
  "check-tree": { roles: ["operator", "admin", "maintainer"], wholeFleet: true, means: "run fsck, take snapshots" },
  "use-jobs": {
    roles: ["depositor", "operator", "admin", "runner"],
    wholeFleet: false,
    means: "use the job queue of one's tenants",
  },
  "change-handlers": {
    roles: ["depositor", "operator", "admin"],
    wholeFleet: false,
    means: "change the handlers of one's tenants",
  },
  "see-jobs": {
    roles: [...PEOPLES_ROLES, "runner"],
    wholeFleet: false,
    means: "see jobs and handlers of one's tenants",
  },
  "act-on-workers": {
    roles: ["operator", "admin", "runner"],
    wholeFleet: true,
    everyTenant: true,
    means: "take workers' jobs away from them",
  },
  "act-on-fleet-jobs": { roles: ["admin", "runner"], wholeFleet: false, means: "touch the jobs of the fleet itself" },
  "schedule-deposits": {
    roles: ["admin", "scheduler"],
    wholeFleet: false,
    means: "make, see and cancel deposits for later",
  },
  "run-schedules": {
    roles: ["admin", "maintainer"],
    wholeFleet: true,
    means: "run others' deposits for later, in their names",
  },
  "work-stage": { roles: ["admin", "worker"], wholeFleet: false, means: "work the jobs of one's stages" },
  "mend-tree": { roles: ["admin"], wholeFleet: true, means: "repair and restore the tree" },
  "manage-tokens": { roles: ["admin"], wholeFleet: true, means: "make, list and revoke tokens" },
} as const satisfies Readonly<Record<string, PermissionRow>>;

export type Permission = keyof typeof PERMISSIONS;

export const isRole = (raw: unknown): raw is Role => ROLES.some((role) => role === raw);
