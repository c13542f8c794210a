/** Every endpoint against every kind of caller: what its permission says, and nothing of collections that are not theirs. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Caller, may, ROLES } from "@sluice/access";
import { batchFolder, beginOperation, type JobId, readJob } from "@sluice/queue-core";
import { aBatchOfJobs, aJobSpec, aSubmission, type TestWorker, testWorker, testZooKeeper } from "@sluice/testkit";
import { ADMIN, type Endpoint } from "@sluice/wire";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aTokenFor, COLLECTION, startAdmin, type TestAdmin } from "./support.ts";

const OTHER = "other_content";
const WHY = "a test of rights";
/** Stands in file names, messages and mails of the collection: nobody else may see it, wherever it is looked for. */
const SECRET = "unpublished-letter";

type Kind = Pick<Caller, "role" | "scope">;
const CALLERS: readonly (readonly [string, Kind])[] = ROLES.flatMap((role) => [
  ...(role === "depositor" ? [] : [[role, { role, scope: "all" }] as const]),
  [`${role} of the collection`, { role, scope: [COLLECTION] }] as const,
  [`${role} of another collection`, { role, scope: [OTHER] }] as const,
]);
const made = CALLERS.map(([name, { role, scope }]) =>
  aTokenFor(role, scope === "all" ? ["*"] : scope, name.replaceAll(" ", "-")),
);

let admin: TestAdmin;
let intake: TestWorker;
let batch: string;
let job: JobId;
let operation: string;
let outbox: string;

beforeAll(async () => {
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  outbox = await mkdtemp(join(tmpdir(), "sluice-access-"));
  admin = await startAdmin(connect, { more: made.map(([, record]) => record), env: { MAIL_OUTBOX_DIR: outbox } });
  const spec = aJobSpec();
  const named = { ...spec, configuration: { ...spec.configuration, payload_name: `${SECRET}.pdf` } };
  const deposit = await aBatchOfJobs(intake, [named, named], aSubmission({ erc_what: SECRET }));
  [batch, job] = [deposit.batch, deposit.jobs[0]!];
  const begun = await beginOperation(
    intake.ctx,
    { name: "olga", reason: SECRET },
    { action: "priority", priority: 42 },
    [job],
  );
  operation = begun.id;
  await writeFile(
    join(outbox, `${batchFolder({ batchId: deposit.batch, batchEpoch: intake.identity.epoch })}.1.eml`),
    `Subject: ${SECRET}\r\nTo: jo@example.org\r\n\r\n${SECRET}\r\n`,
  );
});
afterAll(async () => {
  await admin.stop();
  await intake.close();
  await rm(outbox, { recursive: true, force: true });
});

interface Ask {
  /** Instead of the path's braces. */
  readonly at?: () => string;
  readonly query?: () => Record<string, string>;
  readonly body?: () => unknown;
  /** Whose thing it asks for by name: to whom it does not belong, it is not there. */
  readonly owned?: true;
}

const byJob: Ask = { at: () => job, owned: true };
const byBatch: Ask = { at: () => batch, owned: true };
const byOperation: Ask = { at: () => operation, owned: true };
const turn = (action: "hold" | "release") => () => ({ action, reason: WHY });
const bulk = () => ({ action: "priority", priority: 9, reason: WHY, filter: { ids: [job] }, dry_run: true });

/** A whole request for each: an endpoint that is added without one does not compile. */
const ASKS: Readonly<Record<keyof typeof ADMIN, Ask>> = {
  overview: {},
  overviewEvents: {},
  history: {},
  stages: {},
  stageAction: { at: () => "estimator", body: turn("release") },
  queueAction: { body: turn("release") },
  workers: {},
  workerAction: { at: () => "nobody", body: turn("release") },
  collections: {},
  collectionAction: { at: () => COLLECTION, body: turn("release"), owned: true },
  batches: { query: () => ({ q: SECRET }) },
  batch: byBatch,
  batchEvents: byBatch,
  batchJobs: byBatch,
  batchMails: byBatch,
  batchAction: { ...byBatch, body: turn("release") },
  jobs: { query: () => ({ q: SECRET }) },
  job: byJob,
  jobEvents: byJob,
  jobFiles: byJob,
  jobLogs: byJob,
  jobAction: { ...byJob, body: turn("release") },
  bulkPreview: { body: bulk },
  bulkAction: { body: bulk },
  operations: {},
  operation: byOperation,
  operationEvents: byOperation,
  stopOperation: byOperation,
  me: {},
  model: {},
  audit: {},
  auditCheck: {},
  fsck: {},
  repair: { body: () => ({ reason: WHY, findings: ["none"] }) },
  node: { query: () => ({ path: `/jobs/${job}` }) },
  snapshot: {},
  tokens: {},
  endingTokens: {},
  ownSchedules: {},
  cancelOwnSchedule: { at: () => "7" },
  makeToken: {
    body: () => ({ name: "x", role: "viewer", collections: ["*"], expires_in_days: 1, reason: WHY }),
  },
  revokeToken: { at: () => "aaaaaaaaaaaa", query: () => ({ reason: WHY }) },
  mails: {},
};

/** Things that the requests of this table name are not there, or in a state that allows nothing: then it got that far. */
const LET_THROUGH: Readonly<Partial<Record<keyof typeof ADMIN, readonly number[]>>> = {
  stageAction: [409],
  queueAction: [409],
  workerAction: [409],
  collectionAction: [409],
  batchAction: [409],
  jobAction: [409],
  stopOperation: [200, 409],
  revokeToken: [404],
  // This admin knows no intake.
  ownSchedules: [503],
  cancelOwnSchedule: [503],
};

function expected(id: keyof typeof ADMIN, { role, scope }: Kind): readonly number[] {
  const endpoint: Endpoint = ADMIN[id];
  const { permission, narrowed = permission } = endpoint;
  if (!may({ role, scope }, narrowed).ok && !may({ role, scope }, permission).ok) return [403];
  // Somebody who sees everything ordered it: it may reach into any collection.
  const reaches = id === "operation" || id === "operationEvents" || id === "stopOperation" ? [] : [COLLECTION];
  const isTheirs = scope === "all" || reaches.some((each) => scope.includes(each));
  if (ASKS[id].owned === true && !isTheirs) return [404];
  // What is asked for here is not what the narrower permission is for.
  if (!may({ role, scope }, permission).ok) return [403];
  return LET_THROUGH[id] ?? [endpoint.status];
}

async function ask(id: keyof typeof ADMIN, token: string): Promise<{ response: Response; text: string }> {
  const { method, path }: Endpoint = ADMIN[id];
  const { at, query, body } = ASKS[id];
  const url = new URL(path.replace(/\{\w+\}/, at?.() ?? ""), admin.url);
  for (const [name, value] of Object.entries(query?.() ?? {})) url.searchParams.set(name, value);
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body()) }),
  });
  return { response, text: await firstOf(response) };
}

/** All of a document, the first words of a stream. */
async function firstOf(response: Response): Promise<string> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) return await response.text();
  let text = "";
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.includes("data: ")) break;
  }
  return text;
}

const ids = Object.keys(ADMIN) as (keyof typeof ADMIN)[];

describe.each(CALLERS.map(([name, kind], i) => [name, kind, made[i]![0]] as const))("a %s", (_name, kind, token) => {
  test("may do what the table of roles says, and is told nothing of others' collections", async () => {
    const wrong: string[] = [];
    for (const id of ids) {
      const { response, text } = await ask(id, token);
      if (!expected(id, kind).includes(response.status)) {
        wrong.push(`${id}: ${response.status}, not ${expected(id, kind).join(" or ")}: ${text.slice(0, 200)}`);
      }
      const type = response.headers.get("content-type") ?? "";
      if (response.status >= 400 && !type.startsWith("application/problem+json")) wrong.push(`${id}: ${type}`);
      if (kind.scope !== "all" && !kind.scope.includes(COLLECTION)) {
        const told = [SECRET, COLLECTION, batch, job].filter((word) => text.includes(word));
        if (told.length > 0) wrong.push(`${id} tells ${told.join()}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

test("what was refused was not done", async () => {
  const view = await readJob(intake.session, job);
  expect(view).toMatchObject({ kind: "found", value: { status: { status: "Pending" } } });
});

describe("somebody of another collection", () => {
  const [token] = made[CALLERS.findIndex(([name]) => name === "operator of another collection")]!;
  const preview = async (filter: unknown): Promise<[number, string]> => {
    const response = await fetch(`${admin.url}/v1/jobs/actions/preview`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ action: "hold", reason: WHY, filter }),
    });
    return [response.status, (await response.text()).replaceAll(/"instance":"[^"]*"/g, "")];
  };

  test("finds no job of it by any filter", async () => {
    for (const filter of [{ ids: [job] }, { batch }, { profile: COLLECTION }, { q: SECRET }, { states: ["Pending"] }]) {
      const [status, text] = await preview(filter);
      expect([filter, status, status === 200 ? (JSON.parse(text) as { count: number }).count : 0]).toEqual([
        filter,
        expect.any(Number),
        0,
      ]);
      expect(text).not.toContain(SECRET);
    }
  });

  test("cannot learn from the answers whether a batch is there", async () => {
    const view = (await (
      await fetch(`${admin.url}/v1/batches/${batch}`, { headers: { authorization: `Bearer ${admin.tokens.viewer}` } })
    ).json()) as { id: string };
    const none = "bid-00000000-0000-4000-8000-000000000001";
    expect(await preview({ batch: view.id })).toEqual(await preview({ batch: none }));
    expect(await preview({ batch })).toEqual(await preview({ batch: "bid0000009999" }));
  });
});
