/** The whole fleet on a ZooKeeper that speaks TLS only: a batch goes through, and no node is open to anybody else. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { walkAccessLists } from "@sluice/fsck";
import { paths } from "@sluice/queue-core";
import { securedZooKeeper, type SecuredZooKeeper, waitFor } from "@sluice/testkit";
import { type Acl, connectSession, isOpen, type Session } from "@sluice/zookeeper";
import { type Content, receiveCallbacks, type Receiver, serveContent } from "../support/content.ts";
import { type Fleet, makeFleet, PIPELINE_SERVICES, type Running } from "../support/fleet.ts";
import { OBSERVER_SESSION_MS, untilReported } from "../support/watch.ts";

let zk: SecuredZooKeeper;
let connect: string;
let fleet: Fleet;
let content: Content;
let receiver: Receiver;
let session: Session;
let running: readonly Running[];

beforeAll(async () => {
  [zk, content, receiver] = await Promise.all([securedZooKeeper(), serveContent(), receiveCallbacks()]);
  // Two levels that nobody has made yet: the first service does.
  connect = `${zk.server.connect}/archives/sluice`;
  const access = zk.access(zk.fleet);
  fleet = await makeFleet({ zookeeper: connect, callbackUrl: receiver.url, env: zk.env(zk.fleet), access });
  running = await fleet.startAll([...PIPELINE_SERVICES, "admin"]);
  session = await connectSession({ connect: zk.server.connect, timeoutMs: OBSERVER_SESSION_MS, access });
});
afterAll(async () => {
  await session.close();
  await fleet.stop();
  await Promise.all([zk.stop(), content.close(), receiver.close()]);
});

const service = (name: string): Running => running.find((each) => each.service === name)!;

async function accessLists(): Promise<ReadonlyMap<string, readonly Acl[]>> {
  const lists = new Map<string, readonly Acl[]>();
  for await (const page of walkAccessLists(session)) {
    if (typeof page === "string") throw new Error(page);
    for (const { path, acl } of page) lists.set(path, acl.entries);
  }
  return lists;
}

test("a batch is completed, and whatever was made on the way belongs to the fleet alone", async () => {
  const within = await connectSession({ connect, timeoutMs: OBSERVER_SESSION_MS, access: zk.access(zk.fleet) });
  const open = new Set<string>();
  const ended = new AbortController();
  try {
    const id = await fleet.submit(service("batch-intake"), {
      payload_url: content.batchManifest(20),
      type: "single-file-batch-manifest",
    });
    // Looked at all the time: locks live for moments only.
    const watching = (async () => {
      while (!ended.signal.aborted) for (const [path, acl] of await accessLists()) if (isOpen(acl)) open.add(path);
    })();
    expect(await untilReported(within, id)).toBe("Completed");
    ended.abort();
    await watching;
  } finally {
    ended.abort();
    await within.close();
  }
  // The server's own root is nobody's work here.
  expect([...open]).toEqual(["/"]);
  const lists = await accessLists();
  expect(lists.size).toBeGreaterThan(200);
  const readable = [...lists].filter(
    ([path]) => path !== "/" && !(lists.get(path) ?? []).some(({ id }) => id.includes("sluice-reader")),
  );
  expect(readable).toEqual([]);
  expect([...lists.keys()]).toEqual(
    expect.arrayContaining(["/archives", "/archives/sluice", `/archives/sluice${paths.auditHead}`]),
  );
});

test("the admin asks the servers over TLS too", async () => {
  const metrics = await waitFor(
    async () => {
      const text = await (await fetch(`${service("admin").metricsUrl}/metrics`)).text();
      return /^sluice_zk_server_\w+\{.*\} \d/m.test(text) ? text : null;
    },
    { what: "gauges of the servers" },
  );
  expect(metrics).toMatch(/^sluice_zk_server_up\{[^}]*\} 1$/m);
});

test("a service with a certificate of nobody's stays up, not ready, and says why", async () => {
  const expired = await zk.ca.issue({ subject: "/O=Example/CN=sluice-fleet", days: -1 });
  const alone = await fleet.start("estimator", { ...zk.env(expired), ZK_SESSION_TIMEOUT_MS: "1000" });
  const verbose = async (): Promise<string> =>
    await fetch(`${alone.metricsUrl}/readyz?verbose`).then(
      (answer) => answer.text(),
      () => "",
    );
  await waitFor(async () => (await verbose()).includes("no session, connecting: "), { what: "a reason in readyz" });
  expect(await verbose()).toContain("the server does not accept our certificate");
  expect(await alone.log()).toContain("the server does not accept our certificate");
  const metrics = await (await fetch(`${alone.metricsUrl}/metrics`)).text();
  expect(metrics).toContain('sluice_zk_session_state{state="connecting"} 1');
  expect((await fetch(`${alone.metricsUrl}/livez`)).status).toBe(200);
});
