/** Watching what the fleet does: how it ends, and Ctrl-C, which leaves it and says how to come back. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { OperationView } from "@sluice/wire";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sluice, type Stage } from "./support.ts";

const OPERATION: OperationView = {
  id: "op7",
  action: "resume",
  by: "ida",
  reason: "a test",
  state: "running",
  started: "2026-11-16T08:00:00Z",
  ended: null,
  total: 10_000,
  applied: 4_000,
  refused: [],
};
const BATCH = {
  id: "bid-1",
  bid: "bid0000000001",
  status: "Processing",
  message: "",
  rows: 9,
  created: 3,
  counts: { processing: 2, failed: 1, completed: 0, deleted: 0 },
};
/** How a batch of this name ends. */
const ENDINGS: Readonly<Record<string, object>> = {
  good: { status: "Completed", counts: { processing: 0, failed: 0, completed: 9, deleted: 0 } },
  bad: { status: "Failed", message: "1 of 9 jobs failed" },
  gone: { status: "Deleted" },
  refused: { status: "Refused", bid: null, message: "its key belongs to other content" },
};
const PREVIEW = {
  count: 10_000,
  by_state: { Failed: 10_000 },
  by_profile: { a_content: 10_000 },
  not_allowed: 0,
  examples: [],
};

let server: Server;
let url: string;
let changes: string[];

const stream = (response: ServerResponse, value: unknown): void => {
  response.setHeader("content-type", "text/event-stream");
  response.write(`data: ${JSON.stringify(value)}\n\n`);
};

beforeEach(async () => {
  changes = [];
  server = createServer((request, response) => {
    const path = request.url ?? "";
    if (request.method !== "GET") changes.push(`${request.method ?? ""} ${path}`);
    if (path === "/v1/operations/op7/events") stream(response, OPERATION);
    else if (path.endsWith("/events")) stream(response, { ...BATCH, ...ENDINGS[/bid-(\w+)/.exec(path)?.[1] ?? ""] });
    else {
      const body = path.endsWith("/preview")
        ? PREVIEW
        : path.includes("/jobs")
          ? request.method === "GET"
            ? { items: [], next_cursor: null }
            : OPERATION
          : {};
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(body));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** The bell rings when stderr shows so much. */
function interruptedAt(shown: string): Stage {
  const bell = new AbortController();
  return {
    env: { SLUICE_ADMIN_URL: url, SLUICE_INTAKE_URL: url },
    terminal: 100,
    interrupted: bell.signal,
    onErr: (text) => {
      if (text.includes(shown)) bell.abort();
    },
  };
}

test("a bulk action goes on: how to see it and how to stop it is said, and nothing is sent", async () => {
  const { code, err } = await sluice(
    'job resume --state Failed --reason "a test" --yes',
    interruptedAt("4,000/10,000"),
  );
  expect(code).toBe(130);
  expect(err).toContain("█████████░░░░░░░░░░░░░░░  4,000/10,000  running");
  expect(err).toContain(
    "operation op7 goes on. To see it: sluice operation watch op7; to stop it: sluice operation stop op7 --reason TEXT",
  );
  expect(changes).toEqual(["POST /v1/jobs/actions/preview", "POST /v1/jobs/actions"]);
});

test("a batch goes on, with rows made and jobs done in view", async () => {
  const { code, err } = await sluice("batch watch bid0000000001", interruptedAt("jobs made"));
  expect(code).toBe(130);
  expect(err).toMatch(/jobs made +█+░+ {2}3\/9/);
  expect(err).toMatch(/bid0000000001 +█+░+ {2}1\/9 {2}Processing, 1 failed/);
  expect(err).toContain("Next: sluice batch watch bid0000000001");
});

test.each([
  ["bid-good", 0, "bid0000000001 is Completed: 9 jobs completed, 0 failed"],
  ["bid-bad", 2, "bid0000000001 is Failed: 0 jobs completed, 1 failed; 1 of 9 jobs failed"],
  ["bid-gone", 2, "bid0000000001 is Deleted: 0 jobs completed, 1 failed"],
  ["bid-refused", 2, "bid-1 is Refused: 0 jobs completed, 1 failed; its key belongs to other content"],
])("watching %s ends with %i", async (id, code, says) => {
  const ended = await sluice(`batch watch ${id}`, { env: { SLUICE_ADMIN_URL: url } });
  expect([ended.code, ended.out]).toEqual([code, `${says}\n`]);
});
