import { afterEach, describe, expect, test } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import { DOCS_PATHS, expressPath, type OpenApiDocument } from "@sluice/http-api";
import { OPEN_PATHS } from "../src/http/merritt/serve-state.ts";
import { makeApp } from "../src/http/app.ts";
import { startApp } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

async function documentOf(base: string): Promise<OpenApiDocument> {
  return (await (await fetch(`${base}/openapi.json`)).json()) as OpenApiDocument;
}

const routesOf = ({ paths }: OpenApiDocument): readonly { method: string; path: string }[] =>
  Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method, path })));

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

describe("the API's document", () => {
  test("is valid OpenAPI 3.1", async () => {
    const { base } = await startApp(cleanups);
    const document = await documentOf(base);
    const result = await new Validator().validate(document as unknown as Record<string, unknown>);
    expect([result.valid, result.valid ? null : result.errors]).toEqual([true, null]);
    expect([document.openapi, document.info.version]).toEqual(["3.1.1", "1.2.3"]);
  });

  test("has every route that there is, and no other", async () => {
    const { base, deps } = await startApp(cleanups);
    const described = routesOf(await documentOf(base)).map(({ method, path }) => `${method} ${expressPath(path)}`);
    const { stack } = makeApp(deps).router as unknown as { readonly stack: readonly Layer[] };
    const registered = stack.flatMap(({ route }) =>
      route === undefined ? [] : Object.keys(route.methods).map((method) => `${method} ${route.path}`),
    );
    const docs = [...DOCS_PATHS, ...OPEN_PATHS].map((path) => `get ${path}`);
    expect(registered.sort()).toEqual([...described, ...docs].sort());
    expect(described).toContain("get /v1/batches/:id/events");
  });

  test("describes routes that answer: none is missing behind it", async () => {
    const { base } = await startApp(cleanups);
    const document = await documentOf(base);
    for (const { method, path } of routesOf(document)) {
      const url =
        base +
        path.replace("/jobs/{id}", "/jobs/jid0000000404").replace("{id}", "bid0000000404").replaceAll(/[{}]/g, "");
      const answer = await fetch(url, { method: method.toUpperCase() });
      const text = await answer.text();
      const { detail } = JSON.parse(text) as { detail?: string };
      expect([path, String(answer.status) in document.paths[path]![method]!.responses]).toEqual([path, true]);
      expect(detail ?? "").not.toMatch(/^there is no (GET|POST)/);
    }
  });

  test("names a wrong field of a submission by pointer, one of a path by name", async () => {
    const { base, postJson } = await startApp(cleanups);
    const body = (await (await postJson({ profile: 1 })).json()) as { errors: unknown };
    expect(body.errors).toEqual([{ pointer: "/profile", detail: expect.any(String) }]);
    const path = (await (await fetch(`${base}/v1/jobs/bid0000000001`)).json()) as { errors: unknown };
    expect(path.errors).toEqual([{ field: "id", detail: expect.any(String) }]);
  });
});

test("the page can be linked to from anywhere, the API cannot be asked by other sites' pages", async () => {
  const { base } = await startApp(cleanups);
  const headers = { "sec-fetch-site": "cross-site" };
  expect((await fetch(`${base}/docs`, { headers })).status).toBe(200);
  expect((await fetch(`${base}/v1/batches/bid0000000001`, { headers })).status).toBe(403);
});
