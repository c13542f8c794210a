/** Every endpoint of every API, for every role and scope, against one table. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Role, ROLES } from "@sluice/access";
import { createApp } from "@sluice/http-api";
import { BATCH_REQUESTS } from "@sluice/wire";
import { makeCleanups } from "../../services/batch-intake/test/support.ts";
import { type Api, credentialsFor, openAdmin, openIntake, openJobApi, openStageApi, OWN, SCOPES } from "./apis.ts";
import { isLetIn } from "./let-in.ts";
import { layersOf } from "./layers.ts";
import { contentOf, queryOf, send } from "./requests.ts";
import { LAYERS, PAGES, PASSED_ON, type Right, RIGHTS } from "./table.ts";

const cleanups = makeCleanups();
const apis = new Map<string, Api>();
let newDeposit: () => Promise<number>;
beforeAll(async () => {
  apis.set("intake", await openIntake(cleanups));
  const jobApi = await openJobApi(cleanups);
  apis.set("job-api", jobApi);
  apis.set("admin", await openAdmin(cleanups, jobApi.url));
  apis.set("stage-api", await openStageApi(cleanups));
  ({ newDeposit } = jobApi);
});
afterAll(() => cleanups.run());
const apiOf = (name: string): Api => apis.get(name)!;

const CALLERS = ROLES.flatMap((role) => SCOPES.map((scope) => [role, scope] as const));

/** Of the tenant's deposits for later, where a job is asked for. */
async function ask(api: Api, row: string, credentials: string | null, tenant: string = OWN.tenant): Promise<number> {
  const [method = "", asked = ""] = row.split(" ");
  const path = asked.replace("/v1/queue/", "/v1/");
  // One that nobody has ended before.
  const job = tenant === "system" ? await newDeposit() : 7;
  const filled = asked
    .replace(/:(tenant|client)/, tenant)
    .replace(":stage", OWN.stage)
    .replace(":id", String(job))
    .replaceAll(/:\w+/g, "x");
  const content = method === "POST" || method === "PUT" ? contentOf(path, { tenant, job }) : undefined;
  return (await send(`${api.url}${filled}${queryOf(path, tenant)}`, method, { credentials, content })).status;
}

async function walk(api: Api, row: string, right: Right | "anybody"): Promise<void> {
  const nobodys = await ask(api, row, null);
  if (right === "anybody") {
    expect([401, 403]).not.toContain(nobodys);
    return;
  }
  expect(nobodys).toBe(401);
  for (const [role, scope] of CALLERS) {
    const status = await ask(api, row, credentialsFor(role, scope));
    expect({ role, scope, refused: status === 403 }).toEqual({ role, scope, refused: !isLetIn(right, role, scope) });
    expect(status).not.toBe(401);
  }
}

describe.each(Object.entries(RIGHTS))("%s", (name, rights) => {
  const rows = Object.entries(rights);

  test("has the endpoints of the table, and no other", () => {
    expect(layersOf(apiOf(name).app).routes).toEqual(Object.keys(rights).sort());
  });

  test("has no layer but those that are listed", () => {
    expect(layersOf(apiOf(name).app).order).toEqual(LAYERS[name as keyof typeof LAYERS]);
  });

  test.each(rows)("%s is for those whom the table names", (row, right) => walk(apiOf(name), row, right));

  test("knows nobody at a path that is none", async () => {
    expect(await ask(apiOf(name), "GET /v1/other", null)).toBe(401);
  });
});

test.each(Object.entries(PASSED_ON))("the admin passes on %s for those whom the table names", (row, right) =>
  walk(apiOf("admin"), row, right),
);

test.each(PAGES)("anybody may have the console's page %s, and only look at it", async (path) => {
  const page = `${apiOf("admin").url}${path}`;
  const headers = { accept: "text/html, text/javascript" };
  expect((await fetch(page, { headers })).status).toBe(200);
  for (const method of ["POST", "PUT", "DELETE"]) expect((await fetch(page, { method, headers })).status).toBe(404);
});

const emptyApp = (): Api["app"] => createApp({ onError: () => undefined }, () => undefined);

test.each<readonly [string, (app: Api["app"]) => unknown]>([
  ["a handler under a path", (app) => app.use("/v1/leak", (_request, response) => response.end())],
  ["a handler for everything", (app) => app.use((_request, response) => response.end())],
  ["a router", (app) => app.use(emptyApp().router)],
  ["another app", (app) => app.use("/v1", emptyApp())],
  ["one for all methods", (app) => app.all("/v1/leak", (_request, response) => response.end())],
])("%s that is in no table is found", async (_what, leak) => {
  const { app } = await openIntake(cleanups);
  const before = layersOf(app);
  expect(before).toEqual({ routes: Object.keys(RIGHTS.intake).sort(), order: LAYERS.intake });
  leak(app);
  expect(layersOf(app)).not.toEqual(before);
});

const inSystem = Object.entries(RIGHTS["job-api"]).flatMap(([row, right]) =>
  right === "anybody" || right.inSystem === undefined ? [] : [[row, right.inSystem] as const],
);

test.each(inSystem)("%s among the fleet's own jobs", async (row, roles) => {
  for (const role of ROLES) {
    const status = await ask(apiOf("job-api"), row, credentialsFor(role, "all"), "system");
    expect({ role, refused: status === 403 }).toEqual({ role, refused: !roles.includes(role) });
  }
});

const SCHEDULES = "/v1/tenants/system";
test.each<readonly [string, string, unknown]>([
  ["POST", `${SCHEDULES}/commands/CreateJob`, { name: "fleet/snapshot" }],
  ["POST", `${SCHEDULES}/commands/CreateJob`, { name: "fleet/deposits" }],
  ["POST", `${SCHEDULES}/commands/CreateJob`, { name: "fleet/deposit", onFinish: "fleet/snapshot" }],
  ["POST", `${SCHEDULES}/commands/CreateJob`, { name: "fleet/deposit", parentJobID: 1 }],
  ["GET", `${SCHEDULES}/jobs`, null],
  ["GET", `${SCHEDULES}/jobs?name=*`, null],
  ["GET", `${SCHEDULES}/jobs?name=fleet/deposit,fleet/*`, null],
])("a scheduler has no other job of the fleet: %s %s %j", async (method, path, body) => {
  const response = await fetch(`${apiOf("job-api").url}${path}`, {
    method,
    headers: { authorization: credentialsFor("scheduler", "all"), "content-type": "application/json" },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(403);
});

test("a scheduler can neither see nor end a job of the fleet that does not deposit", async () => {
  const { url } = apiOf("job-api");
  const as = (role: Role) => ({ authorization: credentialsFor(role, "all"), "content-type": "application/json" });
  const post = (role: Role, verb: string, body: unknown): Promise<Response> =>
    fetch(`${url}${SCHEDULES}/commands/${verb}`, { method: "POST", headers: as(role), body: JSON.stringify(body) });
  const { jobID } = (await (await post("runner", "CreateJob", { name: "fleet/snapshot" })).json()) as { jobID: number };
  expect((await fetch(`${url}${SCHEDULES}/jobs/${jobID}`, { headers: as("scheduler") })).status).toBe(403);
  for (const verb of ["CancelJob", "DeleteJob"]) expect((await post("scheduler", verb, { jobID })).status).toBe(403);
  expect((await fetch(`${url}${SCHEDULES}/jobs/${jobID}`, { headers: as("runner") })).status).toBe(200);
});

/** What the intake would submit in the name of whom it says. */
const FORGED = {
  name: "fleet/deposit/0123",
  data: {
    sealed: { batch: { profile: OWN.collection }, by: { id: "token:hers", name: "she" }, request: "1" },
    runs: 0,
  },
};

test("nobody but the scheduler and admins makes a deposit for later, so nobody makes one in another's name", async () => {
  const { url } = apiOf("job-api");
  const post = (role: Role, verb: string, body: unknown): Promise<Response> =>
    fetch(`${url}${SCHEDULES}/commands/${verb}`, {
      method: "POST",
      headers: { authorization: credentialsFor(role, "all"), "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  for (const role of ROLES) {
    const { status } = await post(role, "CreateJob", FORGED);
    expect({ role, made: status === 200 }).toEqual({ role, made: role === "scheduler" || role === "admin" });
  }
  expect((await post("runner", "CreateJob", { ...FORGED, seals: true })).status).toBe(400);
  // By the ways that a runner has besides.
  const several = await post("runner", "CreateJobs", { jobs: [FORGED] });
  expect(several.status).toBe(409);
  expect(((await several.json()) as { readonly detail: string }).detail).toContain("Only who may schedule deposits");
  await post("runner", "CreateJob", { name: "fleet/purge-forged" });
  const taken = (await (await post("runner", "GetJob", { name: "fleet/purge-forged", worker: "w" })).json()) as {
    readonly jobID: number;
    readonly lease: string;
  };
  const { jobID, lease } = taken;
  for (const more of [{ then: [FORGED] }, { data: FORGED.data }])
    expect((await post("runner", "FinishJob", { jobID, lease, ...more })).status).toBe(409);
  expect((await post("runner", "UpdateJob", { jobID, lease, data: FORGED.data })).status).toBe(409);
  expect((await post("runner", "FinishJob", { jobID, lease })).status).toBe(200);
});

test.each(BATCH_REQUESTS.filter((action) => action !== "clean-up"))(
  "a maintainer has batches cleaned up, and nothing else: %s",
  async (action) => {
    const order = async (role: Role, asked: string): Promise<number> =>
      (
        await fetch(`${apiOf("admin").url}/v1/batches/bid0000000001/actions`, {
          method: "POST",
          headers: { authorization: credentialsFor(role, "all"), "content-type": "application/json" },
          body: JSON.stringify({ action: asked, reason: "a test" }),
        })
      ).status;
    expect(await order("maintainer", action)).toBe(403);
    expect(await order("maintainer", "clean-up")).not.toBe(403);
    expect(await order("operator", action)).not.toBe(403);
  },
);
