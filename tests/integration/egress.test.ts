/** One list of where to go, and one file of credentials, for all services: the fleet works with them, and keeps them to itself. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { STAGES } from "@sluice/queue-core";
import { type HttpServer, type OwnZooKeeper, ownZooKeeper, type Received, serveHttp } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { verdictOn } from "../support/deposits.ts";
import { type Fleet, makeFleet, PROFILE, type Running, untilReady } from "../support/fleet.ts";
import { OBSERVER_SESSION_MS } from "../support/watch.ts";

/** Of somebody to whom the password does not belong. */
const OTHER_PROFILE = "sluice_other_content";
const PASSWORD = "hunter2 for the store";
const AUTHORIZATION = `Basic ${Buffer.from(`sluice:${PASSWORD}`).toString("base64")}`;

let zk: OwnZooKeeper;
let fleet: Fleet;
let session: Session;
let intake: Running;
let locked: HttpServer;
let receiver: HttpServer;
let outside: HttpServer;
const asked: Received[] = [];
const calledBack: Received[] = [];
const askedOutside: Received[] = [];

/** Everything behind basic authentication; `/away` leads to the host that is on no list. */
const serveLocked = (): Promise<HttpServer> =>
  serveHttp((request, response) => {
    asked.push(request);
    const { method, path, headers } = request;
    if (headers.authorization !== AUTHORIZATION) response.writeHead(401).end();
    else if (path === "/away") response.writeHead(302, { location: `${outside.url}/a.txt` }).end();
    else {
      const body = path.endsWith(".checkm") ? manifest() : "hello";
      response.writeHead(200, { "content-length": body.length }).end(method === "HEAD" ? undefined : body);
    }
  });

const manifest = (): string =>
  [
    "#%checkm_0.7",
    "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-ingest-manifest",
    `${locked.url}/a.txt | | | 5 | | a.txt | text/plain`,
    "#%eof",
  ].join("\n");

const hostOf = ({ url }: HttpServer): string => new URL(url).host;

beforeAll(async () => {
  const record = (list: Received[]) =>
    serveHttp((request, response) => {
      list.push(request);
      response.writeHead(200).end();
    });
  [zk, locked, receiver, outside] = await Promise.all([
    ownZooKeeper(),
    serveLocked(),
    record(calledBack),
    record(askedOutside),
  ]);
  fleet = await makeFleet({
    zookeeper: zk.connect,
    callbackUrl: receiver.url,
    env: { ALLOW_LOOPBACK: "false", EGRESS_ALLOW: `${hostOf(locked)}, ${hostOf(receiver)}` },
  });
  const profiles = join(fleet.dataDir, "profiles");
  const text = await readFile(join(profiles, PROFILE), "utf8");
  await writeFile(join(profiles, OTHER_PROFILE), text.replace(PROFILE, OTHER_PROFILE));
  const file = join(fleet.dataDir, "auth.json");
  const rules = { [hostOf(locked)]: { user: "sluice", password: PASSWORD, scheme: "http", profiles: [PROFILE] } };
  await writeFile(file, JSON.stringify(rules), { mode: 0o600 });
  const running = await Promise.all(STAGES.map((stage) => fleet.start(stage, { DOWNLOAD_AUTH_FILE: file })));
  intake = running[STAGES.indexOf("batch-intake")]!;
  await Promise.all(running.map(untilReady));
  session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
});
afterAll(async () => {
  await session.close();
  await fleet.stop();
  await Promise.all([zk.stop(), locked.close(), receiver.close(), outside.close()]);
});

test("a job goes through by the list alone, with the credentials at every door", async () => {
  const id = await fleet.submit(intake, { payload_url: `${locked.url}/m.checkm`, type: "object-manifest" });
  expect(await verdictOn(session, id)).toMatchObject({ status: "Completed", message: "" });
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(
    expect.arrayContaining(["GET /m.checkm", "HEAD /a.txt", "GET /a.txt"]),
  );
  expect(new Set(asked.map(({ headers }) => headers.authorization))).toEqual(new Set([AUTHORIZATION]));
  expect(calledBack.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test("a deposit of a profile to which they do not belong goes without them, at every door", async () => {
  const before = asked.length;
  for (const more of [
    { payload_url: `${locked.url}/m.checkm`, type: "object-manifest" },
    { payload_url: `${locked.url}/m.checkm`, type: "single-file-batch-manifest" },
    { payload_url: `${locked.url}/a.txt`, type: "file", payload_name: "a.txt" },
  ]) {
    const id = await fleet.submit(intake, { profile: OTHER_PROFILE, ...more });
    expect(await verdictOn(session, id)).toMatchObject({ status: "Failed", message: expect.stringContaining("401") });
  }
  const doors = asked.slice(before).map(({ method, path, headers }) => [method, path, headers.authorization]);
  expect(doors).toEqual(
    expect.arrayContaining([
      ["GET", "/m.checkm", undefined],
      ["HEAD", "/a.txt", undefined],
      ["GET", "/a.txt", undefined],
    ]),
  );
  expect(doors.filter(([, , authorization]) => authorization !== undefined)).toEqual([]);
});

test("a host that is on no list is not asked, not by a redirect either", async () => {
  for (const payload_url of [`${outside.url}/a.txt`, `${locked.url}/away`]) {
    const id = await fleet.submit(intake, { payload_url, type: "file", payload_name: "a.txt" });
    const { status, message } = await verdictOn(session, id);
    expect([status, message]).toEqual(["Failed", expect.stringMatching(/^URL_REFUSED: .*loopback/)]);
  }
  expect(askedOutside).toEqual([]);
});

test("the password is in no log and in no znode", async () => {
  const secrets = [PASSWORD, AUTHORIZATION.slice("Basic ".length)];
  for (const folder of [join(fleet.dataDir, "logs"), zk.logDir]) {
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const bytes = await readFile(file);
      expect([file, secrets.filter((secret) => bytes.includes(secret))]).toEqual([file, []]);
    }
  }
});

test("every service makes its way out by that list", async () => {
  const root = new URL("../../services/", import.meta.url);
  for (const service of await readdir(root)) {
    const main = await readFile(new URL(`${service}/src/main.ts`, root), "utf8").catch(() => "");
    if (main.includes("createEgress(")) expect([service, main.includes("policyOf(config)")]).toEqual([service, true]);
  }
});
