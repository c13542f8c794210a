/** What is another collection's or tenant's, asked for at every endpoint by every role that is bound elsewhere. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Role, ROLES } from "@sluice/access";
import { makeCleanups } from "../../services/batch-intake/test/support.ts";
import { OWN } from "./apis.ts";
import { contentOf, isForm, queryOf, send } from "./requests.ts";
import { openSeeded, type Seeded } from "./seeded.ts";
import { type Right, RIGHTS } from "./table.ts";

const cleanups = makeCleanups();
let seeded: Seeded;
beforeAll(async () => {
  seeded = await openSeeded(cleanups);
});
afterAll(() => cleanups.run());

const NONSENSE = { type: "nonsense", nonsense: "1" };
const EXTRA = "fields that do not belong there";

type ApiName = keyof typeof RIGHTS;
const ROWS = (Object.keys(RIGHTS) as ApiName[]).flatMap((api) =>
  Object.entries(RIGHTS[api]).flatMap(([row, right]) => {
    const [method = "", path = ""] = row.split(" ");
    return right === "anybody" ? [] : [{ api, method, path, right }];
  }),
);
type Row = (typeof ROWS)[number];

/** A path that names one thing; others are lists, or orders for whatever is theirs. */
const namesOne = ({ path }: Row): boolean => /:(id|name|profile|collection)\b/.test(path);
/** The answer to it is a list, of which nothing is theirs. */
const isList = ({ path }: Row): boolean => path === "/v1/batches/:id/refusals";

type Expected = "refused" | "not there" | "nothing";

function expected(row: Row, role: Role): Expected {
  const { roles, bound, foreign }: Right = row.right;
  if (!roles.includes(role) || !bound || foreign === "refused") return "refused";
  return namesOne(row) && !isList(row) ? "not there" : "nothing";
}

const hasBody = ({ method }: Row): boolean => method === "POST" || method === "PUT";
const contentFor = (row: Row): string | FormData | undefined =>
  hasBody(row) ? contentOf(row.path, { tenant: OWN.tenant, job: seeded.job }) : undefined;

function outcomeOf({ status, text }: { readonly status: number; readonly text: string }): string {
  if (status === 403) return "refused";
  const told = seeded.secrets.filter((secret) => text.includes(secret));
  if (told.length > 0) return `${status}, and tells ${told.join()}`;
  if (status === 404) return "not there";
  return status < 300 ? "nothing" : `${status} ${text}`;
}

describe.each(ROWS)("$api: $method $path", (row) => {
  const { api, method, path } = row;
  const urlsOf = (query = queryOf(path, OWN.tenant)): readonly string[] =>
    seeded.pathsOf(path).map((each) => `${seeded.urls[api]}${each}${query}`);

  test("shows nothing of it", async () => {
    for (const role of ROLES)
      for (const url of urlsOf()) {
        const credentials = seeded.credentialsFor(role, "other");
        const answer = await send(url, method, { credentials, content: contentFor(row) });
        // Who is not let in learns from the path only what they sent themselves.
        expect([role, url, outcomeOf(answer)]).toEqual([role, url, expected(row, role)]);
      }
  });

  if (method === "GET" && namesOne(row) && expected(row, "depositor") === "not there")
    test("shows it to those whose it is", async () => {
      const [url = ""] = urlsOf();
      const { status } = await send(url, method, { credentials: seeded.credentialsFor("depositor", "own") });
      expect(status).toBe(200);
    });

  const wrongs = wrongRequests(row);
  if (wrongs.length > 0)
    test.each(wrongs)("says who may not ask before what is wrong: %s %s", async (content, query) => {
      for (const role of ROLES)
        for (const url of urlsOf(query)) {
          const wanted = expected(row, role);
          if (wanted === "nothing") continue;
          const credentials = seeded.credentialsFor(role, "other");
          const sent = content === EXTRA ? contentOf(path, { tenant: OWN.tenant, job: 1 }, NONSENSE) : content;
          const { status } = await send(url, method, { credentials, content: hasBody(row) ? sent : undefined });
          expect([role, url, status]).toEqual([role, url, wanted === "refused" ? 403 : 404]);
        }
    });
});

/** Bodies, and queries; where only a body says whose it is, the rest of it is wrong. */
function wrongRequests(row: Row): readonly (readonly [string, string])[] {
  const { path } = row;
  const query = queryOf(path, OWN.tenant);
  const isNamedInBody = path === "/v1/batches" || /\/(take|renew)$/.test(path) || isForm(path);
  const bodies = isNamedInBody ? [EXTRA] : ["{", '{"nonsense":1}', "[]"];
  const queries =
    row.right.foreign === "refused" && !isNamedInBody ? [`${query === "" ? "?" : `${query}&`}nonsense=1`] : [];
  return [
    ...(hasBody(row) ? bodies.map((body) => [body, query] as const) : []),
    ...queries.map((each) => ["{}", each] as const),
  ];
}
