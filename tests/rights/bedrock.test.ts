/** Every verb of Bedrock's protocol, over TCP, for every role and scope, against the table of rights. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ROLES } from "@sluice/access";
import { makeGuesses } from "@sluice/http-api";
import { listenOnWire } from "@sluice/job-doors";
import { isStatus, readCommand, STATUS } from "@sluice/job-queue";
import { JOBS, VERB_RIGHTS } from "@sluice/wire";
import { connect } from "node:net";
import { MemoryQueue } from "../../packages/job-doors/test/support/memory-queue.ts";
import { makeCleanups } from "../../services/batch-intake/test/support.ts";
import { admitOnWire } from "../../services/job-api/src/admit.ts";
import { authenticator, credentialsFor, OWN, SCOPES } from "./apis.ts";
import { isLetIn } from "./let-in.ts";
import { BEDROCK } from "./table.ts";

const cleanups = makeCleanups();
let port: number;
beforeAll(async () => {
  const queue = new MemoryQueue();
  const listening = await listenOnWire({
    port: 0,
    queue,
    now: () => queue.now,
    later: queue.later,
    admit: admitOnWire({ authenticator, isLoopback: true, guesses: makeGuesses(), onRefused: () => undefined }),
    hear: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  if (!listening.ok) throw new Error(listening.message);
  ({ port } = listening.server);
  cleanups.add(() => listening.server.close());
});
afterAll(() => cleanups.run());

/** Bedrock has other refusals with this number. */
const REFUSED = "401 Unauthorized";

/** The status line. */
async function say(verb: string, credentials: string | null, tenant: string = OWN.tenant): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const shown = credentials === null ? "" : `Authorization: ${credentials}\r\n`;
  socket.end(`${verb}\r\nTenant: ${tenant}\r\n${shown}\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8").split("\r\n")[0]!;
}

test("the table has every verb that has rights, and no other", () => {
  expect(Object.keys(BEDROCK).sort()).toEqual(Object.keys(VERB_RIGHTS).sort());
});

test("every verb of the table is one that the queue reads", () => {
  const asker = { tenant: OWN.tenant, caller: { kind: "timed", worker: "" } } as const;
  const unread = Object.keys(BEDROCK).filter((verb) => {
    const read = readCommand(verb, {}, asker);
    return isStatus(read) && read.code === STATUS.unknownVerb.code;
  });
  // The one that is read by the door itself.
  expect(unread).toEqual(["Query"]);
});

test("a verb takes the same permission over HTTP", () => {
  const commands = Object.values(JOBS).filter(({ path }) => path.includes("/commands/"));
  for (const { path, permission } of commands) {
    const verb = path.split("/").at(-1) as keyof typeof VERB_RIGHTS;
    expect([verb, permission]).toEqual([verb, VERB_RIGHTS[verb].permission]);
  }
});

test.each(Object.entries(BEDROCK))("%s is for those whom the table names", async (verb, right) => {
  expect(await say(verb, null)).toBe(REFUSED);
  for (const role of ROLES)
    for (const scope of SCOPES) {
      for (const spelled of [verb, verb.toUpperCase(), `${verb} / HTTP/1.1`]) {
        const refused = (await say(spelled, credentialsFor(role, scope))) === REFUSED;
        expect({ role, scope, spelled, refused }).toEqual({
          role,
          scope,
          spelled,
          refused: !isLetIn(right, role, scope),
        });
      }
    }
});

test.each(Object.entries(BEDROCK))("%s among the fleet's own jobs", async (verb, { inSystem = [] }) => {
  for (const role of ROLES) {
    const refused = (await say(verb, credentialsFor(role, "all"), "system")) === REFUSED;
    expect({ role, refused }).toEqual({ role, refused: !inSystem.includes(role) });
  }
});

test.each(["Ping", "RenewLeases", "ReleaseWorker", "constructor"])("%s is no verb, for nobody", async (verb) => {
  for (const role of ROLES)
    expect([role, await say(verb, credentialsFor(role, "all"))]).toEqual([
      role,
      `${STATUS.unknownVerb.code} ${STATUS.unknownVerb.text}`,
    ]);
});
