/** Straight to a ZooKeeper that wants a certificate: the same commands, with the services' settings. */
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { walkAccessLists } from "@sluice/fsck";
import { paths } from "@sluice/queue-core";
import { aBatchOfJobs, READER_ID, securedZooKeeper, type SecuredZooKeeper, testWorker, tree } from "@sluice/testkit";
import { connectSession, ensureChroot, isOpen, OPEN_ACCESS, RIGHTS, type Session } from "@sluice/zookeeper";
import { join } from "node:path";
import { sluice } from "./support.ts";

let zk: SecuredZooKeeper;
let connect: string;
let count = 0;
beforeAll(async () => {
  zk = await securedZooKeeper();
});
afterAll(() => zk.stop());
beforeEach(() => {
  connect = `${zk.server.connect}/tools-${++count}`;
});

/** As the fleet did before it had an identity of its own: what it made is everyone's. */
const openFleet = () => ({ ...zk.access(zk.fleet), aclOf: OPEN_ACCESS.aclOf });

async function plantTree(access = zk.access(zk.fleet)): Promise<void> {
  const problem = await ensureChroot({ connect, timeoutMs: 10_000, access });
  if (problem !== null) throw new Error(problem);
  const intake = await testWorker(connect, "batch-intake", { register: false, access });
  await aBatchOfJobs(intake, 3);
  await intake.close();
}

async function withSession<T>(work: (session: Session) => Promise<T>, certificate = zk.fleet): Promise<T> {
  const session = await connectSession({ connect, timeoutMs: 10_000, access: zk.access(certificate) });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

async function openNodes(): Promise<readonly string[]> {
  return await withSession(async (session) => {
    const open: string[] = [];
    for await (const page of walkAccessLists(session)) {
      if (typeof page === "string") throw new Error(page);
      open.push(...page.filter(({ acl }) => isOpen(acl.entries)).map(({ path }) => path));
    }
    return open;
  });
}

const as = (certificate = zk.fleet) => ({ env: zk.env(certificate), cwd: zk.ca.folder });

test("init makes a tree that belongs to the fleet alone", async () => {
  expect((await sluice(`init --zookeeper ${connect}`, as())).code).toBe(0);
  expect(await openNodes()).toEqual([]);
});

test("without the settings there is no way in, and wrong ones are said by name", async () => {
  const wrong = await sluice(`fsck --zookeeper ${connect}`, { env: { ZOOKEEPER_TLS: "on" } });
  expect([wrong.code, wrong.err]).toEqual([64, expect.stringContaining("ZOOKEEPER_TLS_CA_FILE: is required")]);
  const missing = await sluice(`fsck --zookeeper ${connect}`, {
    env: { ...zk.env(zk.fleet), ZOOKEEPER_TLS_KEY_FILE: "/nowhere.key" },
  });
  expect([missing.code, missing.err]).toEqual([64, expect.stringContaining("ZOOKEEPER_TLS_KEY_FILE: ENOENT")]);
});

test("a tree from before is found open, closed by secure, and then found well", async () => {
  await plantTree(openFleet());
  expect((await openNodes()).length).toBeGreaterThan(50);
  const found = await sluice(`fsck --zookeeper ${connect}`, as());
  expect([found.code, found.out]).toEqual([2, expect.stringMatching(/fail.*ACL.*is open to everyone/)]);
  const dry = await sluice(`secure --dry-run --zookeeper ${connect}`, as());
  expect([dry.code, dry.out]).toEqual([2, expect.stringContaining("open to everyone")]);

  const secured = await sluice(`secure --zookeeper ${connect} --reason "TLS everywhere" --yes`, as());
  expect([secured.code, secured.err]).toEqual([0, expect.stringContaining("WARNING")]);
  expect(await openNodes()).toEqual([]);
  expect((await sluice(`fsck --zookeeper ${connect}`, as())).code).toBe(0);
  const again = await sluice(`secure --zookeeper ${connect} --reason "once more" --yes`, as());
  expect([again.code, again.out]).toEqual([0, expect.stringContaining(" 0 of them changed")]);
  const audit = await withSession((session) => tree(session, { under: [paths.audit] }));
  expect(JSON.stringify(audit)).toContain("tree.secure");
});

test("readers look and change nothing; locks and the audit cannot be rewritten even by the fleet", async () => {
  await plantTree();
  expect((await sluice(`fsck --zookeeper ${connect}`, as(zk.reader))).code).toBe(0);
  const held = await withSession((session) =>
    session.multi([{ op: "create", path: paths.collectionHold("x"), data: Buffer.from("{}") }]),
  );
  expect(held).toMatchObject({ ok: true });
  expect((await sluice(`secure --zookeeper ${connect} --reason "an audit record" --yes`, as())).code).toBe(0);
  await withSession(async (session) => {
    const never = [
      { op: "set", path: paths.collectionHold("x"), data: Buffer.alloc(0), version: 0 },
      { op: "set", path: paths.auditRecord(1), data: Buffer.alloc(0), version: 0 },
      { op: "delete", path: paths.auditRecord(1), version: 0 },
    ] as const;
    for (const op of never) expect(await session.multi([op])).toMatchObject({ ok: false, code: "NO_AUTH" });
    expect(await session.multi([{ op: "delete", path: paths.collectionHold("x"), version: 0 }])).toMatchObject({
      ok: true,
    });
    expect(await session.getAcl(paths.auditRecord(1))).toMatchObject({
      value: {
        entries: [
          { permissions: RIGHTS.read | RIGHTS.create | RIGHTS.admin, id: "CN=sluice-fleet,O=Example" },
          { permissions: RIGHTS.read, id: READER_ID.slice("x509:".length) },
        ],
      },
    });
  });
});

test("a snapshot is restored over the tree that is there, audit and all, and leaves no open node", async () => {
  await plantTree();
  const file = join(zk.ca.folder, "tree.gz");
  expect((await sluice(`secure --zookeeper ${connect} --reason "an audit record" --yes`, as())).code).toBe(0);
  expect((await sluice(`snapshot ${file} --zookeeper ${connect}`, as())).code).toBe(0);
  const restored = await sluice(`restore ${file} --zookeeper ${connect} --replace --reason "a test" --yes`, as());
  expect([restored.code, restored.out]).toEqual([0, expect.stringContaining("restored")]);
  expect(await openNodes()).toEqual([]);
  const closed = await withSession((session) =>
    session.multi([{ op: "delete", path: paths.auditRecord(1), version: 0 }]),
  );
  expect(closed).toMatchObject({ ok: false, code: "NO_AUTH" });
});

test("a digest's password is replaced while both are shown: first both own everything, then the new one alone", async () => {
  const file = await zk.file("password", "fleet:old\n");
  const env = () => ({ env: zk.env(zk.fleet, { ZOOKEEPER_AUTH_FILE: file }), cwd: zk.ca.folder });
  await plantTree(zk.access(zk.fleet, { ZOOKEEPER_AUTH_FILE: file }));
  const digests = () =>
    withSession(async (session) => {
      const ids = new Set<string>();
      for await (const page of walkAccessLists(session)) {
        if (typeof page === "string") throw new Error(page);
        for (const { acl } of page)
          ids.add(
            acl.entries
              .filter(({ scheme }) => scheme === "digest")
              .map(({ id }) => id)
              .sort()
              .join(" "),
          );
      }
      return [...ids];
    });
  const [old] = await digests();
  for (const lines of ["fleet:old\nfleet:new\n", "fleet:new\n"]) {
    await zk.file("password", lines);
    expect((await sluice(`secure --zookeeper ${connect} --reason "a new password" --yes`, env())).code).toBe(0);
  }
  const after = await digests();
  expect(after).toHaveLength(1);
  expect(after[0]).toMatch(/^fleet:\S+$/);
  expect(after[0]).not.toBe(old);
});
