/** docs/merritt.md leaves nothing of Merritt's out, and says of ours what the code says. */
import { describe, expect, test } from "@jest/globals";
import { COMMANDS } from "@sluice/cli";
import { parseProfile } from "@sluice/ingest-formats";
import { BATCH_STATES, batchEdges, type Edge, JOB_STATES, jobEdges } from "@sluice/queue-core";
import { ADMIN, INTAKE } from "@sluice/wire";
import {
  MERRITTS_BATCH_STATES,
  MERRITTS_ENDPOINTS,
  MERRITTS_JOB_STATES,
  MERRITTS_PROFILE_KEYS,
} from "./merritt-facts.ts";
import { matches, read, ROOT } from "./support.ts";

const PAGE = await read("docs/merritt.md");

/** The cells of the table below a heading, without its head. */
function tableBelow(heading: string): readonly (readonly string[])[] {
  const section = PAGE.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  const cells = rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  expect(cells.length).toBeGreaterThan(2);
  return cells.slice(2);
}

const listed = (cell: string | undefined): readonly string[] =>
  (cell === "–" ? [] : (cell ?? "").split(", ")).toSorted();

function nextIn(edges: readonly Edge[], from: string): readonly string[] {
  return [...new Set(edges.filter((edge) => edge.from === from).map(({ to }) => to))].toSorted();
}

describe.each([
  ["States of a job", MERRITTS_JOB_STATES, JOB_STATES, jobEdges()],
  ["States of a batch", MERRITTS_BATCH_STATES, BATCH_STATES, batchEdges()],
] as const)("%s", (heading, theirs, ours, edges) => {
  const rows = tableBelow(heading);

  test("are all there, Merritt's and ours", () => {
    expect(rows.map(([state]) => state).toSorted()).toEqual(Object.keys(theirs).toSorted());
    expect(rows.map(([state]) => state).toSorted()).toEqual([...ours].toSorted());
  });

  test("lead where they lead there, and where they lead here", () => {
    for (const [state = "", there, here] of rows) {
      expect([state, listed(there)]).toEqual([state, (theirs[state] ?? []).toSorted()]);
      expect([state, listed(here)]).toEqual([state, nextIn(edges, state)]);
    }
  });
});

/** `GET /v1/jobs/{id}` and the like, in a text. */
const endpointsIn = (text: string): readonly string[] => matches(text, /`((?:GET|POST|PUT|DELETE) \/[^`]*)`/g);

async function intakesRoutes(): Promise<ReadonlySet<string>> {
  const { intakeOperations } = (await import(`${ROOT}services/batch-intake/src/http/api.ts`)) as {
    intakeOperations: (
      deps: object,
    ) => readonly { readonly spec: { readonly method: string; readonly path: string } }[];
  };
  const { OPEN_PATHS } = (await import(`${ROOT}services/batch-intake/src/http/merritt/serve-state.ts`)) as {
    OPEN_PATHS: readonly string[];
  };
  const made = intakeOperations({}).map(({ spec }) => `${spec.method.toUpperCase()} ${spec.path}`);
  return new Set([...made, ...OPEN_PATHS.map((path) => `GET ${path}`)]);
}

describe("Endpoints of the ingest service", () => {
  const rows = tableBelow("Endpoints of the ingest service");

  test("are all there", () => {
    const named = rows.flatMap(([there = ""]) => endpointsIn(there));
    expect(named.toSorted()).toEqual([...MERRITTS_ENDPOINTS].toSorted());
  });

  test("are here where the table says so, and nowhere else", async () => {
    const routes = await intakesRoutes();
    for (const [there = "", here = ""] of rows) {
      const [name = ""] = endpointsIn(there);
      expect([name, routes.has(name)]).toEqual([name, here !== "–"]);
      if (here !== "–") expect(endpointsIn(here)).toEqual([name]);
    }
  });
});

test("every endpoint of ours that the page names is there", async () => {
  const known = new Set([
    ...Object.values({ ...ADMIN, ...INTAKE }).map(({ method, path }) => `${method.toUpperCase()} ${path}`),
    ...(await intakesRoutes()),
  ]);
  const unknown = endpointsIn(PAGE).filter((name) => !known.has(name) && !MERRITTS_ENDPOINTS.includes(name));
  expect(unknown).toEqual(["GET /v1/…"]);
});

test("every command that the page names is there", () => {
  const known = COMMANDS.map(({ words }) => words.join(" "));
  const named = matches(PAGE, /`sluice ([a-z -]+?)(?: --[^`]*)?`/g);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((words) => !known.includes(words))).toEqual([]);
});

describe("Profiles", () => {
  const rows = tableBelow("Profiles");
  const VALUES: Readonly<Record<string, string>> = {
    "Collection.1": "ark:/99999/fk4c",
    "Notification.1": "a@example.org",
    "HandlerQueue.1": "x.HandlerNotification",
    "HandlerNotify.1": "x.HandlerCallback",
    Owner: "ark:/99999/fk4o",
    ProfileID: "p_content",
    "Identifier-scheme": "ARK",
    Type: "MRT-curatorial",
    Role: "MRT-content",
    Aggregate: "MRT-collection",
    NotificationSuppression: "partial",
    NotificationType: "additional",
    StorageNode: "7",
    Priority: "5",
    SuppressDublinCoreLocalID: "true",
    StorageService: "http://store/",
    ObjectMinterURL: "http://ezid/",
    CallbackURL: "http://callback/",
  };

  test("every key is there", () => {
    expect(rows.map(([key]) => key)).toEqual(MERRITTS_PROFILE_KEYS);
  });

  test("those without effect are the ones that a reader of profiles complains of", () => {
    const profile = parseProfile(MERRITTS_PROFILE_KEYS.map((key) => `${key}: ${VALUES[key] ?? "x"}`).join("\n"));
    expect(profile).toMatchObject({ ok: true });
    const idle = profile.ok ? profile.warnings.map(({ column }) => column) : [];
    const said = rows.filter(([, here = ""]) => here.includes("no effect")).map(([key]) => key);
    expect(idle.toSorted()).toEqual(said.toSorted());
  });
});
