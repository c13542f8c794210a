/**
 * Who may ask for what, once, in plain words, apart from the code that decides it: the walk beside it compares every endpoint of
 * every API with it, and one that is not here fails it.
 */
import type { Role } from "@sluice/access";

export interface Right {
  readonly roles: readonly Role[];
  /** Also for callers who are bound to some collections, tenants and stages? */
  readonly bound: boolean;
  /** Who is bound to other ones than are asked for is refused. */
  readonly foreign: "refused" | "sees nothing of them";
  /** In the tenant of the fleet's own jobs, for callers of all tenants; absent = the path has no tenant. */
  readonly inSystem?: readonly Role[];
}

const right = (roles: string, bound: "bound" | "unbound", more: Partial<Right> = {}): Right => ({
  roles: roles.split(" ") as Role[],
  bound: bound === "bound",
  foreign: "sees nothing of them",
  ...more,
});
const rolesIn = (roles: string): readonly Role[] => roles.split(" ") as Role[];

const SEE = right("depositor viewer operator admin maintainer", "bound");
const SUBMIT = right("depositor operator admin", "bound", { foreign: "refused" });
const FLEET = right("viewer operator admin", "bound");
const DEPOSITS = right("operator admin", "bound");
const CLEAN_UP = right("operator admin maintainer", "bound");
const OWN_SCHEDULES = right("depositor operator admin", "bound");
const RUN_SCHEDULES = right("admin maintainer", "unbound");
const SWITCHES = right("operator admin", "unbound");
const AUDIT = right("viewer operator admin", "unbound");
const TREE = right("operator admin maintainer", "unbound");
const NODES = right("operator admin", "unbound");
const ADMINS = right("admin", "unbound");
const ofTenants = { foreign: "refused", inSystem: rolesIn("admin runner") } as const;
const USE = right("depositor operator admin runner", "bound", ofTenants);
/** Code that runs in a tenant's name is for people to change; services run it. */
const HANDLERS = right("depositor operator admin", "bound", { foreign: "refused", inSystem: rolesIn("admin") });
const SCHEDULE = { ...USE, inSystem: rolesIn("admin runner scheduler") };
const LOOK = right("depositor viewer operator admin runner", "bound", {
  foreign: "refused",
  inSystem: rolesIn("depositor viewer operator admin runner"),
});
const LOOK_SCHEDULE = { ...LOOK, inSystem: rolesIn("depositor viewer operator admin runner scheduler") };
/** What depositors gave to be submitted later, whole. */
const SEALED = right("admin scheduler", "bound", { foreign: "refused", inSystem: rolesIn("admin scheduler") });
const LOOK_AROUND = right("depositor viewer operator admin runner", "bound");
const WORKERS = right("operator admin runner", "unbound");
const CRASHES = right("operator admin runner", "unbound", ofTenants);

type Rights = Readonly<Record<string, Right | "anybody">>;

const DOCS: Rights = {
  "GET /openapi.json": "anybody",
  "GET /docs": "anybody",
  "GET /docs/docs.css": "anybody",
  "GET /docs/try-it.js": "anybody",
};

const INTAKE: Rights = {
  ...DOCS,
  ...Object.fromEntries(
    ["submit", "add", "update"].flatMap((verb) => [
      [`POST /poster/${verb}`, SUBMIT],
      [`POST /poster/${verb}/:scheme/:shoulder/:objectid`, SUBMIT],
    ]),
  ),
  // As Merritt's monitors ask, who have no token.
  "GET /state": "anybody",
  "GET /help": "anybody",
  "GET /poster/state": "anybody",
  "GET /poster/help": "anybody",
  "GET /admin/state": FLEET,
  "GET /admin/help": FLEET,
  "GET /admin/profiles": FLEET,
  "GET /admin/profiles-full": DEPOSITS,
  "GET /admin/profile/:profile": DEPOSITS,
  "GET /admin/bids/:days": FLEET,
  "GET /admin/bid/:id": FLEET,
  "GET /admin/bid/:id/:days": FLEET,
  "POST /admin/submissions/freeze": SWITCHES,
  "POST /admin/submissions/thaw": SWITCHES,
  "POST /admin/submission/freeze/:collection": DEPOSITS,
  "POST /admin/submission/thaw/:collection": DEPOSITS,
  "POST /v1/batches": SUBMIT,
  "GET /v1/batches": SEE,
  "GET /v1/batches/:id": SEE,
  "GET /v1/batches/:id/events": SEE,
  "GET /v1/batches/:id/jobs": SEE,
  "GET /v1/batches/:id/refusals": SEE,
  "GET /v1/jobs/:id": SEE,
  "GET /v1/jobs/:id/events": SEE,
  "GET /v1/schedules": SEE,
  "GET /v1/schedules/:id": SEE,
  "DELETE /v1/schedules/:id": OWN_SCHEDULES,
  "POST /v1/schedules/:id/runs": RUN_SCHEDULES,
};

const ADMIN: Rights = {
  ...DOCS,
  // Whoever has a token may begin a session with it, and anybody end their own.
  "POST /login": "anybody",
  "POST /logout": "anybody",
  "GET /v1/me": SEE,
  "GET /v1/schedules": OWN_SCHEDULES,
  "DELETE /v1/schedules/:id": OWN_SCHEDULES,
  "GET /v1/model": SEE,
  "GET /v1/overview": FLEET,
  "GET /v1/overview/events": FLEET,
  "GET /v1/history": FLEET,
  "GET /v1/stages": FLEET,
  "POST /v1/stages/:stage/actions": SWITCHES,
  "POST /v1/queue/actions": SWITCHES,
  "GET /v1/workers": FLEET,
  "POST /v1/workers/:id/actions": SWITCHES,
  "GET /v1/collections": SEE,
  "POST /v1/collections/:name/actions": DEPOSITS,
  "GET /v1/batches": SEE,
  "GET /v1/batches/:id": SEE,
  "GET /v1/batches/:id/events": SEE,
  "GET /v1/batches/:id/jobs": SEE,
  "GET /v1/batches/:id/mails": SEE,
  "POST /v1/batches/:id/actions": CLEAN_UP,
  "GET /v1/jobs": SEE,
  "GET /v1/jobs/:id": SEE,
  "GET /v1/jobs/:id/events": SEE,
  "GET /v1/jobs/:id/files": SEE,
  "GET /v1/jobs/:id/logs": FLEET,
  "POST /v1/jobs/:id/actions": DEPOSITS,
  "POST /v1/jobs/actions/preview": DEPOSITS,
  "POST /v1/jobs/actions": DEPOSITS,
  "GET /v1/operations": DEPOSITS,
  "GET /v1/operations/:id": DEPOSITS,
  "GET /v1/operations/:id/events": DEPOSITS,
  "DELETE /v1/operations/:id": DEPOSITS,
  "GET /v1/audit": AUDIT,
  "GET /v1/audit/check": AUDIT,
  "POST /v1/fsck": TREE,
  "GET /v1/snapshot": TREE,
  "POST /v1/fsck/repairs": ADMINS,
  "GET /v1/nodes": NODES,
  "GET /v1/tokens": ADMINS,
  "GET /v1/tokens/ending": ADMINS,
  "POST /v1/tokens": ADMINS,
  "DELETE /v1/tokens/:id": ADMINS,
  "GET /v1/mails": FLEET,
};

const command = (verb: string): string => `POST /v1/tenants/:tenant/commands/${verb}`;
const USED = ["CreateJobs", "GetJob", "GetJobs", "UpdateJob", "FinishJob", "RetryJob", "FailJob", "RequeueJobs"];

const JOB_API: Rights = {
  ...DOCS,
  ...Object.fromEntries(USED.map((verb) => [command(verb), USE])),
  [command("CreateJob")]: SCHEDULE,
  [command("CancelJob")]: SCHEDULE,
  [command("DeleteJob")]: SCHEDULE,
  [command("QueryJob")]: LOOK,
  [command("Status")]: LOOK,
  [command("CrashBedrockJob")]: CRASHES,
  [command("ClearCrashedBedrockJobs")]: CRASHES,
  "GET /v1/tenants": LOOK_AROUND,
  "GET /v1/tenants/:tenant/types": LOOK,
  "GET /v1/tenants/:tenant/jobs": LOOK_SCHEDULE,
  "GET /v1/tenants/:tenant/jobs/:id": LOOK_SCHEDULE,
  "GET /v1/tenants/:tenant/jobs/:id/sealed": SEALED,
  "GET /v1/tenants/:tenant/jobs/:id/result": LOOK,
  "GET /v1/tenants/:tenant/runs": LOOK,
  "GET /v1/shards": FLEET,
  "POST /v1/take": USE,
  "POST /v1/workers/:worker/renew": USE,
  "POST /v1/workers/:worker/release": WORKERS,
  "GET /v1/workers": FLEET,
  "GET /v1/tenants/:tenant/handlers": LOOK,
  "GET /v1/tenants/:tenant/handlers/:type": LOOK,
  "PUT /v1/tenants/:tenant/handlers/:type": HANDLERS,
  "DELETE /v1/tenants/:tenant/handlers/:type": HANDLERS,
  "POST /v1/purge": WORKERS,
  "POST /v2/keys/jobs": USE,
  "GET /v2/keys/jobs": LOOK,
  "GET /v2/keys/jobs/:id": LOOK,
  "PUT /v2/keys/jobs/:id": USE,
  "GET /v2/keys/new": LOOK,
  "GET /v2/keys/running": LOOK,
  "GET /v2/keys/finished": LOOK,
  "GET /v2/keys/workers": FLEET,
  "POST /:client/job/:type/add": USE,
  "POST /:client/handler/add/:type/add": HANDLERS,
  "GET /:client/handler/get/:type": LOOK,
  "POST /:client/handler/del/:type/delete": HANDLERS,
  "DELETE /:client/handler/del/:type/delete": HANDLERS,
};

/** Of other teams' programs, each for its own stages. */
const WORK = right("admin worker", "bound", { foreign: "refused" });
const CLAIM = "/v1/stages/:stage/claims/:claim";

const STAGE_API: Rights = {
  ...DOCS,
  "GET /v1/stages/:stage": WORK,
  "POST /v1/stages/:stage/claims": WORK,
  [`GET ${CLAIM}`]: WORK,
  ...Object.fromEntries(
    ["renew", "record", "locks", "done", "retry", "snooze", "fail"].map((word) => [`POST ${CLAIM}/${word}`, WORK]),
  ),
};

/** Bedrock's protocol, by verb. Schedulers have nothing here: what narrows them is HTTP's. */
export const BEDROCK: Readonly<Record<string, Right>> = {
  ...Object.fromEntries([...USED, "CreateJob", "CancelJob", "DeleteJob"].map((verb) => [verb, USE])),
  ...Object.fromEntries(["QueryJob", "DescribeJob", "Query", "Status"].map((verb) => [verb, LOOK])),
  CrashBedrockJob: CRASHES,
  ClearCrashedBedrockJobs: CRASHES,
};

export const RIGHTS = { intake: INTAKE, admin: ADMIN, "job-api": JOB_API, "stage-api": STAGE_API } as const;

const FIRST = ["requestIds", "tellForbidden", "dataHeaders", "notKept"];
const WALL = ["ownPagesOnly", "callers", "limitCallers", "holdBodies"];
const LAST = ["notFound", "errorHandler"];

/**
 * Everything that is no endpoint, in order; `routes` stands for endpoints. What is not here may not be in an app: no middleware
 * may answer but these, and these two are walked like endpoints: `consolePages` by PAGES, `forwardToQueue` by the job-api's rows.
 */
export const LAYERS: Readonly<Record<keyof typeof RIGHTS, readonly string[]>> = {
  intake: [...FIRST, "routes", ...WALL, "routes", "onlyHere", ...LAST],
  admin: [...FIRST, "routes", "consolePages", ...WALL, "routes", "onlyHere", "forwardToQueue", ...LAST],
  "job-api": [...FIRST, "routes", ...WALL, "routes", "onlyHere", ...LAST],
  "stage-api": [...FIRST, "routes", ...WALL, "routes", "onlyHere", ...LAST],
};

/** The console, for anybody: it holds no data. Each of its addresses is the same page. */
export const PAGES = [
  "/",
  "/index.html",
  "/app-0123456789abcdef.js",
  "/batches",
  "/batches/x",
  "/jobs/x",
  "/queues/acme",
];

/** What the admin passes on to the job-api in the caller's own name, which decides. */
export const PASSED_ON: Rights = Object.fromEntries(
  Object.entries(JOB_API).flatMap(([row, right]) =>
    row.includes(" /v1/") ? [[row.replace(" /v1/", " /v1/queue/"), right]] : [],
  ),
);
