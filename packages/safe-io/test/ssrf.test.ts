import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import { createEgress, type Egress, LOOPBACK, policyOf, PUBLIC_ONLY } from "../src/index.ts";
import { refusalOf } from "../src/egress/policy.ts";
import { content, startServer, type TestServer } from "./misbehaving-server.ts";

/** Ways to write an address that must never be asked. */
const FORBIDDEN = [
  // this machine
  ..."127.0.0.1 127.1 127.0.1 0x7f.1 0x7f000001 2130706433 017700000001 0177.0.0.1 127.0.0.1. 127.255.255.254 0 0.0.0.0 0x0 00.0.0.0".split(
    " ",
  ),
  ..."[::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:0] [::127.0.0.1] [::ffff:0:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::]".split(
    " ",
  ),
  "127。0。0。1",
  "①②⑦.⓪.⓪.①",
  // private, link-local, shared
  ..."10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255 100.64.0.1 100.127.255.255 169.254.0.1 169.254.169.254 169.254.170.2 0xa9fea9fe 2852039166 0251.0376.0251.0376".split(
    " ",
  ),
  ..."[fe80::1] [fec0::1] [fc00::1] [fd00::1] [fd00:ec2::254] [::ffff:10.0.0.1] [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::] [2002:c0a8:1::]".split(
    " ",
  ),
  // reserved, documentation, benchmark, multicast, broadcast
  ..."192.0.0.1 192.0.2.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 192.88.99.1 168.63.129.16".split(
    " ",
  ),
  ..."[ff02::1] [ff0e::1] [2001:db8::1] [100::1] [2001::1] [2001:10::1] [2001:20::1] [3fff::1] [5f00::1] [4000::1] [64:ff9b:1::1]".split(
    " ",
  ),
];

const SCHEMES = [
  "file:///etc/passwd",
  "ftp://example.org/x",
  "gopher://example.org/x",
  "data:text/plain,hello",
  "jar:http://example.org/a!/b",
  "javascript:alert(1)",
  "ws://example.org/",
  "ldap://example.org/",
  "dict://example.org:11211/",
  "unix:/var/run/docker.sock",
  "blob:http://example.org/x",
  "about:blank",
  "//example.org/x",
  "/etc/passwd",
  "",
  "http://",
  "http://[::1",
  "http://user@example.org/",
  "http://user:pass@example.org/",
  "http://example.org@127.0.0.1/",
  "https://127.0.0.1#@example.org/",
];

let egress: Egress;
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  // Names are not resolved on the real network here: everything is decided by address.
  egress = createEgress({ resolve: () => Promise.resolve(["127.0.0.1"]) });
});
afterAll(async () => {
  await egress.close();
  await server.close();
});

const codeOf = async (url: string, client = egress): Promise<string> => {
  const outcome = await client.get(url);
  return outcome.ok ? "it was asked" : outcome.error.code;
};

describe("an address that is not public is refused, however it is written", () => {
  test.each(FORBIDDEN)("http://%s/", async (host) => expect(await codeOf(`http://${host}/`)).toBe("EGRESS_REFUSED"));
  test.each(["127.0.0.1", "[::1]", "169.254.169.254"])("https://%s:8443/", async (host) =>
    expect(await codeOf(`https://${host}:8443/`)).toBe("EGRESS_REFUSED"),
  );
});

test.each(SCHEMES)("%s is refused", async (url) => expect(await codeOf(url)).toBe("EGRESS_REFUSED"));

test.each(["localhost", "localhost.", "localtest.me", "127.0.0.1.nip.io", "metadata.google.internal"])(
  "the name %s is refused for where it leads",
  async (host) => expect(await codeOf(`http://${host}/`)).toBe("EGRESS_REFUSED"),
);

describe("a name server that changes its mind", () => {
  test("is asked once, and its answer is where the connection goes", async () => {
    const answers = [["127.0.0.1"], ["169.254.169.254"]];
    let asked = 0;
    const pinned = createEgress({
      policy: { ...PUBLIC_ONLY, allow: LOOPBACK },
      resolve: () => Promise.resolve(answers[asked++] ?? []),
    });
    const { port } = new URL(server.on("/pinned", content("x")));
    const outcome = await pinned.get(`http://rebind.example:${port}/pinned`);
    expect(outcome.ok && (await outcome.value.text())).toEqual({ ok: true, value: "x" });
    expect(asked).toBe(1);
    await pinned.close();
  });

  test("is refused when it then leads inside", async () => {
    const answers = [["127.0.0.1"], ["169.254.169.254"]];
    const pinned = createEgress({
      policy: { ...PUBLIC_ONLY, allow: LOOPBACK },
      resolve: () => Promise.resolve(answers.shift() ?? []),
      connectionsPerHost: 1,
    });
    const { port } = new URL(
      server.on("/once", (_request, response) => response.writeHead(200, { connection: "close" }).end()),
    );
    const first = await pinned.get(`http://rebind.example:${port}/once`);
    expect(first.ok && (await first.value.text()).ok).toBe(true);
    expect(await codeOf(`http://rebind.example:${port}/once`, pinned)).toBe("EGRESS_REFUSED");
    await pinned.close();
  });

  test("may name several addresses: only those allowed are used", async () => {
    const mixed = createEgress({
      policy: { ...PUBLIC_ONLY, allow: LOOPBACK },
      resolve: () => Promise.resolve(["10.0.0.1", "127.0.0.1"]),
    });
    const { port } = new URL(server.on("/mixed", content("x")));
    const outcome = await mixed.get(`http://mixed.example:${port}/mixed`);
    expect(outcome.ok && (await outcome.value.text()).ok).toBe(true);
    await mixed.close();
  });

  test("or none", async () => {
    const none = createEgress({ resolve: () => Promise.resolve([]) });
    expect(await codeOf("http://empty.example/", none)).toBe("EGRESS_REFUSED");
    await none.close();
  });
});

describe("the policy", () => {
  const settings = { ALLOW_LOOPBACK: false, EGRESS_ALLOW: [], EGRESS_PORTS: [443] };

  test.each(["8.8.8.8", "151.101.1.6", "2606:4700::1111", "2a00:1450:4001:81b::200e"])("lets %s pass", (address) => {
    expect(refusalOf({ address, port: 443 }, PUBLIC_ONLY)).toBeUndefined();
    expect(refusalOf({ address, port: 2181 }, PUBLIC_ONLY)).toMatch(/port 2181/);
  });

  test("allows what the configuration allows, on the ports it says", () => {
    const policy = policyOf({ ...settings, EGRESS_ALLOW: [{ cidr: "10.1.0.0/16", ports: [8080, 8443] }] });
    expect(refusalOf({ address: "10.1.2.3", port: 8443 }, policy)).toBeUndefined();
    expect(refusalOf({ address: "10.1.2.3", port: 443 }, policy)).toMatch(/private/);
    expect(refusalOf({ address: "10.2.2.3", port: 8443 }, policy)).toMatch(/private/);
    expect(refusalOf({ address: "8.8.8.8", port: 80 }, policy)).toMatch(/port 80/);
    expect(refusalOf({ address: "127.0.0.1", port: 443 }, policy)).toMatch(/loopback/);
    expect(refusalOf({ address: "127.0.0.1", port: 443 }, policyOf({ ...settings, ALLOW_LOOPBACK: true }))).toBe(
      undefined,
    );
  });

  test("allows a host by its very name, wherever it is", () => {
    const policy = policyOf({ ...settings, EGRESS_ALLOW: [{ host: "store.internal", ports: [8443] }] });
    const at = { address: "10.1.2.3", port: 8443 };
    expect(refusalOf({ ...at, host: "store.internal" }, policy)).toBeUndefined();
    for (const host of ["evil.store.internal", "store.internal.evil.example", "10.1.2.3"])
      expect(refusalOf({ ...at, host }, policy)).toMatch(/private/);
    expect(refusalOf({ ...at, host: "store.internal", port: 443 }, policy)).toMatch(/private/);
  });

  test("holds when a socket is opened", async () => {
    const resolve = () => Promise.resolve(["127.0.0.1"]);
    const allow = [{ host: "store.internal" }];
    const egress = createEgress({ policy: policyOf({ ...settings, EGRESS_ALLOW: allow }), resolve });
    const { port } = new URL(server.on("/named", content("x")));
    const outcome = await egress.get(`http://store.internal:${port}/named`);
    expect(outcome.ok && (await outcome.value.text()).ok).toBe(true);
    expect(await codeOf(`http://other.internal:${port}/named`, egress)).toBe("EGRESS_REFUSED");
    await egress.close();
  });
});
