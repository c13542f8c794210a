/** Against a real ZooKeeper that speaks TLS only and wants a certificate. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { copyFile, readFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import {
  type Certificate,
  certificateAuthority,
  READER_ID,
  securedZooKeeper,
  type SecuredZooKeeper,
  waitFor,
} from "@sluice/testkit";
import {
  type Access,
  accessFrom,
  connectSession,
  ensureChroot,
  isOpen,
  keepSession,
  type Op,
  OPEN_ACCESS,
  openSession,
  readZooKeeperSettings,
  RIGHTS,
  type Session,
  type SessionState,
} from "../src/index.ts";
import { connectTls } from "../src/tls-socket.ts";
import { text, untilState } from "./support/bundle.ts";
import { startByteProxy, type ByteProxy } from "./support/byte-proxy.ts";

/** Far above what a busy machine needs; and short enough to be waited for, where a session shall be given up. */
const TIMEOUT_MS = 30_000;
const SHORT_MS = 4_000;

let zk: SecuredZooKeeper;
const cleanups: (() => Promise<void>)[] = [];
beforeAll(async () => {
  zk = await securedZooKeeper();
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(() => zk.stop());

const port = (): number => Number(zk.server.connect.split(":")[1]);
const create = (path: string): Op => ({ op: "create", path, data: text("") });

function access(env: Readonly<Record<string, string>>, connect = zk.server.connect) {
  const read = readZooKeeperSettings(connect, env);
  if (!read.ok) throw new Error(read.problems.join("; "));
  return accessFrom(read.settings, () => RIGHTS.all);
}

interface As {
  readonly certificate?: Certificate;
  readonly env?: Readonly<Record<string, string>>;
  readonly connect?: string;
  readonly timeoutMs?: number;
  readonly onState?: (state: SessionState, why: string) => void;
}

async function session({
  certificate = zk.fleet,
  env = {},
  connect = zk.server.connect,
  timeoutMs = TIMEOUT_MS,
  onState,
}: As = {}) {
  const opened = await connectSession({
    connect,
    timeoutMs,
    access: access(zk.env(certificate, env), connect),
    ...(onState === undefined ? {} : { hooks: { onState } }),
  });
  cleanups.push(() => opened.close());
  return opened;
}

/** Why the first connection ended without a session; throws if there is one. */
async function refusalOf(connect: string, way: Access): Promise<string> {
  const ended = new AbortController();
  const openSocket: Access["openSocket"] = (server) =>
    // After the session's own listeners have heard why.
    way.openSocket(server).once("close", () => setImmediate(() => ended.abort()));
  const opened = await openSession({
    connect,
    timeoutMs: 60_000,
    access: { ...way, openSocket },
    signal: ended.signal,
  });
  if (!opened.ok) return opened.why;
  await opened.session.close();
  throw new Error("it was let in");
}

const refusal = (env: Readonly<Record<string, string>>, connect = zk.server.connect): Promise<string> =>
  refusalOf(connect, access(env, connect));

async function proxy(host?: string): Promise<ByteProxy> {
  const started = await startByteProxy(port(), host);
  cleanups.push(() => started.stop());
  return started;
}

let count = 0;
async function chroot(): Promise<string> {
  const path = `/secured-${++count}`;
  const problem = await ensureChroot({
    connect: zk.server.connect + path,
    timeoutMs: TIMEOUT_MS,
    access: access(zk.env(zk.fleet)),
  });
  if (problem !== null) throw new Error(problem);
  return path;
}

describe("without the right certificate there is no entry", () => {
  test("plain TCP is not answered", async () => {
    expect(await refusalOf(zk.server.connect, OPEN_ACCESS)).toMatch(/^no ZooKeeper answers/);
  });

  test("no certificate: the reason says that the server wants one", async () => {
    const digest = await zk.file("nobody", "fleet:secret\n");
    const env = { ZOOKEEPER_TLS: "on", ZOOKEEPER_TLS_CA_FILE: zk.ca.caFile, ZOOKEEPER_AUTH_FILE: digest };
    expect(await refusal(env)).toMatch(/the server does not accept our certificate, or wants one/);
  });

  test("a certificate of another CA, and one that has expired, are not accepted", async () => {
    const stranger = await certificateAuthority("another CA");
    cleanups.push(() => stranger.remove());
    const theirs = await stranger.issue({ subject: "/O=Example/CN=sluice-fleet" });
    const expired = await zk.ca.issue({ subject: "/O=Example/CN=sluice-fleet", days: -1 });
    for (const certificate of [theirs, expired]) {
      expect(await refusal(zk.env(certificate))).toMatch(/the server does not accept our certificate/);
    }
  });

  test("a server of another CA is not trusted, and one with another name neither", async () => {
    const stranger = await certificateAuthority("another CA");
    cleanups.push(() => stranger.remove());
    expect(await refusal(zk.env(zk.fleet, { ZOOKEEPER_TLS_CA_FILE: stranger.caFile }))).toMatch(
      /no CA of ours has signed the server's certificate/,
    );
    expect(await refusal(zk.env(zk.fleet, { ZOOKEEPER_TLS_SERVERNAME: "other.example" }))).toMatch(
      /certificate is for another name .*other\.example/,
    );
    expect((await session({ env: { ZOOKEEPER_TLS_SERVERNAME: "localhost" } })).state).toBe("connected");
  });
});

test("a server that cannot prove its name is told nothing, though it may ask", async () => {
  const stranger = await certificateAuthority("another CA");
  cleanups.push(() => stranger.remove());
  const { certFile, keyFile } = await stranger.issue({ subject: "/CN=zookeeper", names: "IP:127.0.0.1" });
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  let handshakes = 0;
  let received = 0;
  const server = createTlsServer({ cert, key }, (socket) => {
    socket.on("data", (chunk: Buffer) => (received += chunk.length));
    socket.on("error", () => undefined);
  }).listen(0, "127.0.0.1");
  server.on("connection", () => (handshakes += 1));
  cleanups.push(async () => {
    server.close();
    await once(server, "close");
  });
  await once(server, "listening");
  const why = await refusal(zk.env(zk.fleet), `127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(why).toMatch(/no CA of ours has signed/);
  expect([handshakes > 0, received]).toEqual([true, 0]);
});

describe("a session over TLS", () => {
  test("reads, writes, watches and is refused as any other", async () => {
    const connect = zk.server.connect + (await chroot());
    const own = await session({ connect });
    expect(
      await own.multi([create("/a"), { op: "create", path: "/a/mine", data: text("x"), ephemeral: true }]),
    ).toMatchObject({ ok: true });
    const watched = new Promise<void>((resolve) => void own.get("/a", resolve));
    await own.barrier();
    const other = await session({ connect });
    await other.multi([{ op: "set", path: "/a", data: Buffer.alloc(400_000, 7), version: 0 }]);
    await watched;
    const seen = await own.readMany([{ get: "/a" }, { children: "/a" }, { get: "/none" }]);
    expect(seen).toMatchObject({
      ok: true,
      value: [{ kind: "node", node: { stat: { dataLength: 400_000 } } }, { names: ["mine"] }, { kind: "none" }],
    });
    expect(await own.multi([{ op: "set", path: "/a", data: text(""), version: 0 }])).toMatchObject({
      code: "BAD_VERSION",
    });
    await own.close();
    expect(await other.exists("/a/mine")).toEqual({ ok: true, value: null });
  });

  test("that is cut in the middle of an answer goes on with another connection", async () => {
    const through = await proxy();
    const path = await chroot();
    const own = await session({ connect: through.address + path });
    await own.multi([{ op: "create", path: "/large", data: Buffer.alloc(300_000, 1) }]);
    through.cutAfter(100_000);
    expect(await own.get("/large")).toMatchObject({ ok: false, code: "UNKNOWN" });
    expect(await own.untilConnected()).toBe(true);
    expect(await own.get("/large")).toMatchObject({ ok: true, value: { stat: { dataLength: 300_000 } } });
    expect(through.connections).toBeGreaterThan(1);
  });

  test("whose server falls silent is suspended and then lost", async () => {
    const through = await proxy();
    const path = await chroot();
    const states: SessionState[] = [];
    const own = await session({
      connect: through.address + path,
      timeoutMs: SHORT_MS,
      onState: (state) => states.push(state),
    });
    through.blackhole(true);
    const answer = own.multi([create("/late")]);
    await untilState(own, "lost");
    expect(states).toEqual(["connected", "suspended", "lost"]);
    expect(await answer).toMatchObject({ ok: false });
  });

  test("that is given up takes back what the kernel has not sent yet", async () => {
    let received = 0;
    const { certFile, keyFile } = await zk.ca.issue({ subject: "/CN=slow", names: "IP:127.0.0.1" });
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    const raws: Socket[] = [];
    const server = createServer((raw) => {
      raws.push(raw);
      const secure = new TLSSocket(raw, { isServer: true, cert, key });
      secure.on("error", () => undefined);
      secure.on("data", (chunk: Buffer) => {
        received += chunk.length;
        if (received === 1) raw.pause();
      });
    }).listen(0, "127.0.0.1");
    cleanups.push(async () => {
      server.close();
      await once(server, "close");
    });
    await once(server, "listening");
    const { port: at } = server.address() as AddressInfo;
    const socket = connectTls({ host: "127.0.0.1", port: at }, { caFile: zk.ca.caFile, own: null, servername: null });
    await once(socket, "secureConnect");
    socket.write("x");
    await waitFor(() => raws[0]?.isPaused() === true, { what: "a server that stops reading" });
    const large = Buffer.alloc(2_000_000);
    socket.write(large);
    socket.resetAndDestroy();
    const gone = once(raws[0]!, "close");
    raws[0]!.resume();
    await gone;
    expect(received).toBeLessThan(large.length);
  });

  test("to a server that accepts and says nothing tries another one within its deadline", async () => {
    const silent = await proxy();
    silent.blackhole(true);
    const own = await session({ connect: `${silent.address},${zk.server.connect}`, timeoutMs: SHORT_MS });
    expect(own.state).toBe("connected");
  });

  test("goes on with another server of an ensemble, each under its own name", async () => {
    const path = await chroot();
    // 127.0.0.2 and .3 are servers whose certificate names neither of them; "localhost" and 127.0.0.1 are named.
    const [wrong, alsoWrong, first, second] = [
      await proxy("127.0.0.2"),
      await proxy("127.0.0.3"),
      await proxy(),
      await proxy(),
    ];
    const servers = [wrong.address, alsoWrong.address, first.address, `localhost:${second.port}`].join(",");
    const own = await session({ connect: servers + path });
    const { id } = own;
    for (let n = 0; n < 3; n++) {
      const again = untilState(own, "suspended");
      for (const each of [first, second]) each.cut();
      await again;
      expect(await own.untilConnected()).toBe(true);
      expect(await own.exists("/")).toMatchObject({ ok: true });
    }
    expect(own.id).toBe(id);
  });
});

describe("what a session makes", () => {
  const aclOf = async (own: Session, path: string) => {
    const answer = await own.getAcl(path);
    if (!answer.ok) throw new Error(answer.detail);
    return answer.value;
  };

  test("belongs to the fleet, may be read by readers, and by nobody else", async () => {
    const path = await chroot();
    const connect = zk.server.connect + path;
    const own = await session({ connect });
    await own.multi([create("/a"), { op: "create", path: "/a/lock", data: text(""), ephemeral: true }]);
    for (const each of ["/", "/a", "/a/lock"]) {
      expect((await aclOf(own, each)).entries).toEqual([
        { permissions: RIGHTS.all, scheme: "x509", id: "CN=sluice-fleet,O=Example" },
        { permissions: RIGHTS.read, scheme: "x509", id: READER_ID.slice("x509:".length) },
      ]);
    }
    const reader = await session({ certificate: zk.reader, connect });
    expect(await reader.get("/a")).toMatchObject({ ok: true });
    expect(await reader.children("/a")).toMatchObject({ ok: true, value: { names: ["lock"] } });
    const stranger = await session({ certificate: await zk.ca.issue({ subject: "/CN=stranger" }), connect });
    expect(await stranger.get("/a")).toMatchObject({ ok: false, code: "NO_AUTH" });
    expect(await stranger.children("/a")).toMatchObject({ ok: false, code: "NO_AUTH" });
    const attempts: Op[] = [
      create("/a/b"),
      { op: "set", path: "/a", data: text("x"), version: 0 },
      { op: "delete", path: "/a/lock", version: 0 },
    ];
    for (const each of [reader, stranger]) {
      for (const op of attempts) expect(await each.multi([op])).toMatchObject({ ok: false, code: "NO_AUTH" });
      expect(await each.setAcl("/a", [{ permissions: 31, scheme: "world", id: "anyone" }], 0)).toMatchObject({
        code: "NO_AUTH",
      });
    }
  });

  test("is owned by a digest identity too, where one is shown, and by a new one while it replaces the old", async () => {
    const connect = zk.server.connect + (await chroot());
    const file = await zk.file("digest", "fleet:old\n");
    const own = await session({ connect, env: { ZOOKEEPER_AUTH_FILE: file } });
    await own.multi([create("/a")]);
    const owners = async (path: string) => (await aclOf(own, path)).entries.filter((entry) => entry.permissions === 31);
    expect((await owners("/a")).map(({ scheme }) => scheme).sort()).toEqual(["digest", "x509"]);
    await zk.file("digest", "fleet:old\nfleet:new\n");
    const both = await session({ connect, env: { ZOOKEEPER_AUTH_FILE: file } });
    await both.multi([create("/b")]);
    expect((await owners("/b")).map(({ scheme }) => scheme).sort()).toEqual(["digest", "digest", "x509"]);
  });

  test("can be given another list, at the version that was read", async () => {
    const own = await session({ connect: zk.server.connect + (await chroot()) });
    await own.multi([create("/a")]);
    const { version } = await aclOf(own, "/a");
    expect(await own.setAcl("/a", own.aclOf("/a"), version)).toMatchObject({ ok: true });
    expect(await own.setAcl("/a", own.aclOf("/a"), version)).toMatchObject({ ok: false, code: "BAD_VERSION" });
    const after = await aclOf(own, "/a");
    expect([after.version, isOpen(after.entries)]).toEqual([version + 1, false]);
  });
});

describe("rotation", () => {
  test("files are read for every connection: a new certificate counts at the next, a bad one is said and waited out", async () => {
    const [certFile, keyFile] = [join(zk.ca.folder, "current.pem"), join(zk.ca.folder, "current.key")];
    const put = async (certificate: Certificate): Promise<void> => {
      await copyFile(certificate.certFile, certFile);
      await copyFile(certificate.keyFile, keyFile);
    };
    await put(zk.reader);
    const through = await proxy();
    const path = await chroot();
    const troubles: string[] = [];
    const keeper = keepSession({
      connect: through.address + path,
      timeoutMs: SHORT_MS,
      access: access(zk.env({ certFile, keyFile, storeFile: "" })),
      connectWithinMs: 1_000,
      backoff: { firstMs: 10, maxMs: 50 },
      onTrouble: (why) => troubles.push(why),
    });
    cleanups.push(() => keeper.close());
    const first = await keeper.untilSession();
    expect(await first?.multi([create("/a")])).toMatchObject({ code: "NO_AUTH" });

    await put(zk.fleet);
    const suspended = untilState(first!, "suspended");
    through.cut();
    await suspended;
    expect(await first?.untilConnected()).toBe(true);
    expect(await first?.multi([create("/a")])).toMatchObject({ ok: true });

    await copyFile(zk.reader.certFile, certFile);
    through.cut();
    await untilState(first!, "lost");
    await waitFor(() => troubles.some((why) => why.includes("do not belong together")), { what: "the reason" });
    await put(zk.fleet);
    await waitFor(() => keeper.current()?.state === "connected", { what: "a session again" });
  });
});
