/** The table of endpoints is the contract: all of it is served, nothing else, and only to those who may. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { may, type Role, ROLES } from "@sluice/access";
import { DOCS_PATHS } from "@sluice/http-api";
import { testZooKeeper } from "@sluice/testkit";
import { ADMIN, type Endpoint } from "@sluice/wire";
import { startAdmin, type TestAdmin } from "./support.ts";

const TABLE: readonly Endpoint[] = Object.values(ADMIN);
let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin((await testZooKeeper()).connect);
});
afterAll(async () => admin.stop());

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
}

test("every endpoint of the table is served, and no other", async () => {
  const document = (await (await fetch(`${admin.url}${DOCS_PATHS[0]}`)).json()) as Document;
  const served = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
  );
  expect(served.sort()).toEqual(TABLE.map(({ id }) => id).sort());
});

const pathOf = ({ path }: Endpoint): string =>
  path.replace("{stage}", "estimator").replaceAll(/\{\w+\}/g, "jid0000000001");

const ask = (endpoint: Endpoint, token: string | null): Promise<Response> =>
  fetch(`${admin.url}${pathOf(endpoint)}`, {
    method: endpoint.method,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
  });

describe.each(TABLE.map((endpoint) => [endpoint.id, endpoint] as const))("%s", (_id, endpoint) => {
  test("asks who is there", async () => {
    const response = await ask(endpoint, null);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain("Bearer");
  });

  test.each(ROLES)("lets a %s through only if the table of roles says so", async (role: Role) => {
    const scope = role === "depositor" ? ["sluice_demo_content"] : "all";
    const permissions = [endpoint.permission, endpoint.narrowed ?? endpoint.permission];
    const allowed = permissions.some((permission) => may({ role, scope }, permission).ok);
    const response = await ask(endpoint, admin.tokens[role]);
    // Without its body or its thing an allowed request fails later, and otherwise.
    expect(response.status === 403).toBe(!allowed);
    await response.body?.cancel();
  });
});

test("a viewer can change nothing", () => {
  const changes = TABLE.filter(({ method }) => method !== "get");
  expect(changes.length).toBeGreaterThan(10);
  for (const { permission } of changes) expect(may({ role: "viewer", scope: "all" }, permission).ok).toBe(false);
});
