/** Every endpoint of the table and of the other doors, for every kind of caller. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Caller, may, PERMISSIONS, ROLES, type Role } from "@sluice/access";
import { testZooKeeper } from "@sluice/testkit";
import { JOBS } from "@sluice/wire";
import { HttpDoor } from "./support/http-door.ts";
import { type House, type JobApi, openHouse } from "./support/processes.ts";

interface Row {
  readonly method: string;
  readonly path: string;
  readonly permission: keyof typeof PERMISSIONS;
}

const OTHER_DOORS: readonly Row[] = [
  { method: "post", path: "/{tenant}/job/x/add", permission: "use-jobs" },
  { method: "post", path: "/{tenant}/handler/add/x/add", permission: "change-handlers" },
  { method: "get", path: "/{tenant}/handler/get/x", permission: "see-jobs" },
  { method: "post", path: "/{tenant}/handler/del/x/delete", permission: "change-handlers" },
  { method: "delete", path: "/{tenant}/handler/del/x/delete", permission: "change-handlers" },
  { method: "post", path: "/v2/keys/jobs?tenant={tenant}", permission: "use-jobs" },
  { method: "put", path: "/v2/keys/jobs/1?tenant={tenant}", permission: "use-jobs" },
  ...["jobs", "jobs/7", "new", "running", "finished"].map((folder): Row => ({
    method: "get",
    path: `/v2/keys/${folder}?tenant={tenant}`,
    permission: "see-jobs",
  })),
  { method: "get", path: "/v2/keys/workers", permission: "see-fleet" },
];
const ROWS: readonly Row[] = [...Object.values(JOBS), ...OTHER_DOORS];

let house: House;
let api: JobApi;
const doors = new Map<string, HttpDoor>();

/** By tenants: all, the one that is asked for, another one. */
const SCOPES = { all: ["*"], own: ["acme"], other: ["umbrella"] } as const;
type Scope = keyof typeof SCOPES;
const CALLERS = ROLES.flatMap((role) => (Object.keys(SCOPES) as Scope[]).map((scope) => ({ role, scope })));

beforeAll(async () => {
  house = await openHouse((await testZooKeeper()).connect);
  const tokens = new Map<string, string>();
  for (const { role, scope } of CALLERS)
    tokens.set(`${role} ${scope}`, await house.token({ role, tenants: [...SCOPES[scope]] }));
  api = await house.start("one");
  for (const [name, token] of tokens) doors.set(name, new HttpDoor(api.url, token));
});
afterAll(() => house.end());

const fill = (path: string, tenant: string): string =>
  path.replace("{tenant}", tenant).replace("{id}", "7").replace("{worker}", "w").replace("{type}", "x");

/** What is asked for is not there, or says too little: whoever may ask is told that, others that they may not. */
async function statusFor(door: HttpDoor, { method, path }: Row, tenant: string): Promise<number> {
  const body = method === "put" ? '{"lang":"node","body":"return 200"}' : "{}";
  const hasBody = method === "post" || method === "put";
  return (await door.raw(method.toUpperCase(), fill(path, tenant), hasBody ? body : undefined)).status;
}

describe.each(ROWS)("$method $path", (row) => {
  // One request for each row: whoever guesses more often in a minute is sent away.
  test("is closed to who shows nothing", async () => {
    expect(await statusFor(new HttpDoor(api.url, null), row, "acme")).toBe(401);
  });

  test.each(CALLERS)("$role of $scope tenants", async ({ role, scope }) => {
    const status = await statusFor(doors.get(`${role} ${scope}`)!, row, "acme");
    expect(status === 403).toBe(!isAllowed(role, scope, row));
    expect(status).not.toBe(401);
  });

  const isHandlers = row.permission === "change-handlers";
  if (row.path.includes("{tenant}") && (row.permission === "use-jobs" || isHandlers))
    test(`of the fleet's own tenant is for admins${isHandlers ? "" : " and runners"}`, async () => {
      for (const role of ROLES) {
        const status = await statusFor(doors.get(`${role} all`)!, row, "system");
        expect([role, status === 403]).toEqual([role, role !== "admin" && (isHandlers || role !== "runner")]);
      }
    });
});

test("a token that nobody gave is none", async () => {
  const door = new HttpDoor(api.url, `slc_${"a".repeat(12)}_${"b".repeat(43)}`);
  expect(await statusFor(door, JOBS.listTenants, "acme")).toBe(401);
});

function isAllowed(role: Role, scope: Scope, { permission, path }: Row): boolean {
  const caller: Pick<Caller, "role" | "scope" | "tenants"> = {
    role,
    scope: "all",
    tenants: scope === "all" ? "all" : SCOPES[scope],
  };
  return may(caller, permission).ok && !(path.includes("{tenant}") && scope === "other");
}
