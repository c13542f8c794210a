import { describe, expect, it } from "@jest/globals";
import { may, PERMISSIONS, ROLES } from "@sluice/access";
import { ADMIN, type Endpoint, INTAKE, JOBS } from "../src/index.ts";

const all: readonly (readonly [string, Endpoint])[] = Object.entries(ADMIN);

describe("the operators' API", () => {
  it("names each endpoint as its key, and each path and method once", () => {
    expect(all.map(([key]) => key)).toEqual(all.map(([, { id }]) => id));
    const places = all.map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(all)("%s declares exactly the parameters of its path", (_key, { path, params }) => {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = params !== undefined && "shape" in params ? Object.keys(params.shape as object) : [];
    expect(declared).toEqual(named);
  });

  it.each(all)(
    "%s can be read by whoever looks, and changed only by those who act",
    (_key, { method, permission, id }) => {
      const looksOnly = method === "get" || id === "fsck";
      const viewer = may({ role: "viewer", scope: "all" }, permission).ok;
      if (!looksOnly) expect(viewer).toBe(false);
      expect(ROLES.some((role) => may({ role, scope: "all" }, permission).ok)).toBe(true);
    },
  );

  it("asks for a reason wherever something is changed, except to stop what one has begun", () => {
    const changing = all.filter(
      ([key, { method }]) => method !== "get" && !["fsck", "stopOperation", "cancelOwnSchedule"].includes(key),
    );
    for (const [key, { body, query }] of changing) {
      const schema = body ?? query;
      const fields = schema !== undefined && "shape" in schema ? Object.keys(schema.shape as object) : [];
      expect([key, fields.includes("reason")]).toEqual([key, true]);
    }
  });

  it("uses every permission but those of intake and job queue", () => {
    const used = new Set(all.flatMap(([, { permission, narrowed }]) => [permission, narrowed]));
    const others = Object.keys(PERMISSIONS).filter((permission) => !used.has(permission as never));
    expect(others).toEqual([
      "use-jobs",
      "change-handlers",
      "see-jobs",
      "act-on-workers",
      "act-on-fleet-jobs",
      "schedule-deposits",
      "run-schedules",
      "work-stage",
    ]);
  });
});

describe("the depositors' API", () => {
  const theirs: readonly (readonly [string, Endpoint])[] = Object.entries(INTAKE);

  it("names each endpoint as its key, and each path and method once", () => {
    expect(theirs.map(([key]) => key)).toEqual(theirs.map(([, { id }]) => id));
    const places = theirs.map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  const OF_FLEET: readonly string[] = [INTAKE.runSchedule.id];
  const ofDepositors = theirs.filter(([key]) => !OF_FLEET.includes(key));

  it("lets nobody but the fleet run others' deposits for later", () => {
    for (const role of ["depositor", "viewer", "operator"] as const)
      expect(may({ role, scope: "all", tenants: "all" }, INTAKE.runSchedule.permission).ok).toBe(false);
  });

  it.each(ofDepositors)("%s is for depositors, and a viewer only looks", (_key, { method, permission }) => {
    expect(may({ role: "depositor", scope: ["a_content"] }, permission).ok).toBe(true);
    expect(may({ role: "viewer", scope: "all" }, permission).ok).toBe(method === "get");
  });

  it("takes ids of either form, and nothing else", () => {
    const takes = (id: string): boolean => INTAKE.getBatch.params?.safeParse({ id }).success ?? false;
    const ids = ["bid0000000001", "bid-00000000-0000-4000-8000-000000000001", "jid0000000001", "../x", ""];
    expect(ids.map(takes)).toEqual([true, true, false, false, false]);
  });
});

describe("the job queue's API", () => {
  const queue: readonly (readonly [string, Endpoint])[] = Object.entries(JOBS);

  it("names each endpoint as its key, and each path and method once", () => {
    expect(queue.map(([key]) => key)).toEqual(queue.map(([, { id }]) => id));
    const places = queue.map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(queue)("%s declares exactly the parameters of its path", (_key, { path, params }) => {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = params !== undefined && "shape" in params ? Object.keys(params.shape as object) : [];
    expect(declared).toEqual(named);
  });

  it.each(queue)("%s: a viewer looks and changes nothing", (key, { method, permission }) => {
    const looksOnly = (method === "get" && key !== JOBS.sealedData.id) || key === "queryJob" || key === "status";
    expect(may({ role: "viewer", scope: "all", tenants: "all" }, permission).ok).toBe(looksOnly);
  });

  const CRASHING: readonly string[] = [JOBS.crashBedrockJob.id, JOBS.clearCrashedBedrockJobs.id];

  it.each(queue)("%s: a depositor acts in their tenants, and not on the fleet", (key, { path, permission }) => {
    const ofFleet =
      ["/v1/shards", "/v1/workers", "/v1/workers/{worker}/release"].includes(path) ||
      [...CRASHING, JOBS.sealedData.id].includes(key);
    expect(may({ role: "depositor", scope: [], tenants: ["a"] }, permission).ok).toBe(!ofFleet);
  });

  it("reads lists with commas", () => {
    expect(JOBS.listJobs.query?.parse({ state: "QUEUED,FAILED", name: "a*,b" })).toEqual({
      state: ["QUEUED", "FAILED"],
      name: ["a*", "b"],
    });
    expect(JOBS.listJobs.query?.safeParse({ state: "QUEUED,LOST" }).success).toBe(false);
  });
});
