import { validate } from "./validate-openapi.ts";

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";

import {
  addOperations,
  cursorOf,
  DOCS_PATHS,
  DOCS_POLICY,
  type HttpServer,
  openApiDocument,
  operation,
  pageFields,
  pageReply,
  pageSchema,
  serveDocs,
} from "../src/index.ts";
import { serve } from "./support.ts";

const Thing = z
  .object({ id: z.string(), made: z.iso.datetime().nullable() })
  .meta({ id: "Thing", description: "A thing." });
const cursor = cursorOf("things", z.number().int());
const otherCursor = cursorOf("others", z.number().int());
const THINGS = Array.from({ length: 5 }, (_, i) => ({ id: `t${i}`, made: null }));

const OPERATIONS = [
  operation(
    {
      id: "listThings",
      method: "get",
      path: "/v1/things",
      group: "Things",
      summary: "Things <of> & for everybody",
      query: z.strictObject({ ...pageFields(cursor), colour: z.enum(["red", "blue"]).optional() }),
      responses: { 200: { description: "a page", content: { "application/json": pageSchema(Thing) } } },
    },
    ({ query }, request) => {
      const from = query.cursor ?? 0;
      const to = from + query.limit;
      return pageReply(request, THINGS.slice(from, to), to < THINGS.length ? cursor.print(to) : null);
    },
  ),
  operation(
    {
      id: "makeThing",
      method: "post",
      path: "/v1/things/{id}",
      group: "Things",
      summary: "Makes a thing",
      params: z.object({ id: z.string().regex(/^t\d$/, "expected t and a digit") }),
      headers: z.object({ "If-Match": z.string().regex(/^\d+$/).optional() }),
      body: { json: z.strictObject({ size: z.number() }).meta({ id: "NewThing" }), example: { size: 1 } },
      responses: {
        201: { description: "made", content: { "application/json": Thing }, headers: { Location: "where" } },
      },
      problems: ["CONFLICT"],
    },
    ({ params, body }) => ({ status: 201, body: { id: `${params.id}/${body.size}`, made: null } }),
  ),
];

const document = openApiDocument(
  { title: "Things", version: "1.2.3", description: "All `things`.", groups: { Things: "What there is." } },
  OPERATIONS,
);

let server: HttpServer;
beforeAll(async () => {
  server = await serve((app) => {
    addOperations(app, OPERATIONS);
    serveDocs(app, document);
  });
});
afterAll(() => server.close(0));

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(server.url + path, init);
  return { response, body: (await response.json()) as Record<string, unknown> };
}
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  ask(path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });

describe("input", () => {
  test("reaches the handler as its schema makes it", async () => {
    const { response, body } = await post("/v1/things/t1", '{"size":3}');
    expect([response.status, body]).toEqual([201, { id: "t1/3", made: null }]);
  });

  test.each([
    ["the path", "/v1/things/x", '{"size":3}', {}, { field: "id" }],
    ["a header", "/v1/things/t1", '{"size":3}', { "if-match": "x" }, { field: "If-Match" }],
    ["the body", "/v1/things/t1", '{"size":"3"}', {}, { pointer: "/size" }],
  ])("that is wrong in %s is named", async (_where, path, text, headers, place) => {
    const { response, body } = await post(path, text, headers);
    expect([response.status, body["code"]]).toEqual([400, "INVALID_REQUEST"]);
    expect(body["errors"]).toEqual([{ ...place, detail: expect.any(String) }]);
  });

  test("without a JSON body where one is needed is refused", async () => {
    const { response } = await post("/v1/things/t1", "size=3", { "content-type": "text/plain" });
    expect(response.status).toBe(415);
  });

  test("by another method is answered by those that exist", async () => {
    const { response, body } = await ask("/v1/things", { method: "DELETE" });
    expect([response.status, body["code"], response.headers.get("allow")]).toEqual([
      405,
      "METHOD_NOT_ALLOWED",
      "GET, HEAD",
    ]);
    expect((await ask("/v1/things/t1/below")).response.status).toBe(404);
  });
});

describe("pages", () => {
  test("follow each other by cursor and by Link, to the last", async () => {
    const seen: unknown[] = [];
    let next: string | null = "/v1/things?limit=2&colour=red";
    for (let pages = 0; next !== null; pages++) {
      expect(pages).toBeLessThan(4);
      const { response, body }: Awaited<ReturnType<typeof ask>> = await ask(next);
      seen.push(...(body["items"] as unknown[]));
      const link: RegExpExecArray | null = /^<(.+)>; rel="next"$/.exec(response.headers.get("link") ?? "");
      expect(link === null).toBe(body["next_cursor"] === null);
      next = link?.[1] ?? null;
    }
    expect(seen).toEqual(THINGS);
  });

  test.each([
    ["limit", "limit=0"],
    ["limit", "limit=201"],
    ["limit", "limit=ten"],
    ["limit", "limit=1&limit=2"],
    ["cursor", "cursor=nonsense"],
    ["cursor", `cursor=${otherCursor.print(1)}`],
    ["cursor", `cursor=${Buffer.from('{"list":"things","at":"one"}').toString("base64url")}`],
    ["colour", "colour=green"],
    ["color", "color=red"],
  ])("refuse a wrong %s (%s) and name it", async (field, query) => {
    const { response, body } = await ask(`/v1/things?${query}`);
    expect(response.status).toBe(400);
    expect(body["errors"]).toEqual([{ field, detail: expect.any(String) }]);
  });
});

describe("the document", () => {
  test("is valid OpenAPI 3.1", async () => {
    expect(await validate(document)).toEqual([]);
    expect(await validate({ ...document, paths: { things: 1 } })).not.toEqual([]);
  });

  test("is served as it is", async () => {
    expect((await ask("/openapi.json")).body).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test("says what is sent, what comes back, and every problem by its status", () => {
    const made = document.paths["/v1/things/{id}"]!["post"]!;
    expect(made.parameters).toMatchObject([
      { name: "id", in: "path", required: true },
      { name: "If-Match", in: "header", required: false },
    ]);
    expect(made.requestBody!.content["application/json"]).toEqual({
      schema: { $ref: "#/components/schemas/NewThing" },
      example: { size: 1 },
    });
    expect(Object.keys(made.responses)).toEqual(["201", "400", "409", "413", "415", "500"]);
    expect(made.responses["409"]!.content).toEqual({
      "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
    });
    expect(document.components.schemas["NewThing"]).toMatchObject({ additionalProperties: false, required: ["size"] });
    expect(document.components.schemas["Thing"]).toEqual({
      type: "object",
      description: "A thing.",
      properties: {
        id: { type: "string" },
        made: { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] },
      },
      required: ["id", "made"],
    });
  });

  test("cannot describe one route twice, nor two schemas by one name", () => {
    const info = { title: "", version: "", description: "", groups: { Things: "" } };
    expect(() => openApiDocument(info, [OPERATIONS[0]!, OPERATIONS[0]!])).toThrow("described twice");
    const { spec } = OPERATIONS[0]!;
    const other = z.object({ a: z.string() }).meta({ id: "Thing" });
    const responses = { 200: { description: "", content: { "application/json": other } } };
    const clash = operation({ ...spec, path: "/v2", responses }, () => ({ status: 200 }));
    expect(() => openApiDocument(info, [OPERATIONS[0]!, clash])).toThrow("two schemas are called Thing");
  });
});

describe("the page", () => {
  test("lists every operation, names every schema, escapes what it shows", async () => {
    const response = await fetch(`${server.url}/docs`);
    const page = await response.text();
    for (const { spec } of OPERATIONS) expect(page).toContain(`id="${spec.id}"`);
    expect(page).toContain('id="schema-NewThing"');
    expect(page).toContain('Body as application/json: <a href="#schema-NewThing">NewThing</a>');
    expect(page).toContain("Things &lt;of&gt; &amp; for everybody");
    expect(page).toContain("All <code>things</code>.");
    expect(page).toContain("curl &quot;$BASE/v1/things/$ID&quot; -H &#39;content-type: application/json&#39;");
  });

  test("has nothing inline and nothing from elsewhere, and every part of it is there", async () => {
    const response = await fetch(`${server.url}/docs`);
    const page = await response.text();
    expect(response.headers.get("content-security-policy")).toBe(DOCS_POLICY);
    expect(DOCS_POLICY).not.toContain("unsafe");
    expect(page).not.toMatch(/<style|style="|<script>| on\w+="|https?:\/\//);
    const parts = [...page.matchAll(/(?:src|href)="([^#"]+)"/g)].map(([, path]) => `/${path!}`);
    expect(parts.sort()).toEqual(DOCS_PATHS.filter((path) => path !== "/docs").sort());
    for (const part of parts) expect((await fetch(server.url + part)).status).toBe(200);
  });
});
