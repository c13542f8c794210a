import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Certificate, type CertificateAuthority, certificateAuthority } from "@sluice/testkit";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { accessFrom, isOpen, OPEN_ACCESS, readZooKeeperSettings, RIGHTS } from "../src/index.ts";

let ca: CertificateAuthority;
let own: Certificate;
let digest: string;
beforeAll(async () => {
  ca = await certificateAuthority();
  own = await ca.issue({ subject: "/CN=fleet" });
  digest = join(ca.folder, "digest");
  await writeFile(digest, "fleet:a password: with colons\n\n");
});
afterAll(() => ca.remove());

const tls = (): Record<string, string> => ({
  ZOOKEEPER_TLS: "on",
  ZOOKEEPER_TLS_CA_FILE: ca.caFile,
  ZOOKEEPER_TLS_CERT_FILE: own.certFile,
  ZOOKEEPER_TLS_KEY_FILE: own.keyFile,
});
const FAR = "zk1.example:2281,zk2.example:2281,zk3.example:2281/sluice";

function problems(env: Readonly<Record<string, string>>, connect = FAR): readonly string[] {
  const read = readZooKeeperSettings(connect, env);
  return read.ok ? [] : read.problems;
}

function access(env: Readonly<Record<string, string>>, connect = FAR) {
  const read = readZooKeeperSettings(connect, env);
  if (!read.ok) throw new Error(read.problems.join("; "));
  return accessFrom(read.settings, () => RIGHTS.all);
}

describe("settings of the way to ZooKeeper", () => {
  test("none of them is needed: then everything is open, as for development", () => {
    expect(access({})).toBe(OPEN_ACCESS);
    expect(access({ ZOOKEEPER_TLS: "", ZOOKEEPER_AUTH_FILE: "" })).toBe(OPEN_ACCESS);
  });

  test("with a certificate, or a digest, what is made belongs to whom the server knows, and to readers", () => {
    const readers = "x509:CN=reader,O=Example, Inc.;digest:tools:c2hhMQ==";
    for (const env of [tls(), { ...tls(), ZOOKEEPER_AUTH_FILE: digest }]) {
      expect(access({ ...env, ZOOKEEPER_READERS: readers }).aclOf("/a")).toEqual([
        { permissions: RIGHTS.all, scheme: "auth", id: "" },
        { permissions: RIGHTS.read, scheme: "x509", id: "CN=reader,O=Example, Inc." },
        { permissions: RIGHTS.read, scheme: "digest", id: "tools:c2hhMQ==" },
      ]);
    }
    expect(isOpen(access({ ZOOKEEPER_AUTH_FILE: digest }, "127.0.0.1:2181").aclOf("/"))).toBe(false);
  });

  test("what would leave a door open is refused by name", () => {
    const { ZOOKEEPER_TLS_CERT_FILE: _cert, ...keyOnly } = tls();
    const { ZOOKEEPER_TLS: _on, ...off } = tls();
    const nobody = { ZOOKEEPER_TLS: "on", ZOOKEEPER_TLS_CA_FILE: ca.caFile };
    expect(problems({ ZOOKEEPER_TLS: "yes" })).toEqual(["ZOOKEEPER_TLS: must be on or off"]);
    expect(problems(nobody)).toEqual([expect.stringMatching(/^ZOOKEEPER_TLS: is on, and we are nobody/)]);
    expect(problems({ ...tls(), ZOOKEEPER_TLS_CA_FILE: "" })).toEqual([
      "ZOOKEEPER_TLS_CA_FILE: is required with ZOOKEEPER_TLS=on",
    ]);
    expect(problems(keyOnly)).toContain("ZOOKEEPER_TLS_KEY_FILE: and ZOOKEEPER_TLS_CERT_FILE go together");
    expect(problems(off)).toContain("ZOOKEEPER_TLS_CERT_FILE: is of use only with ZOOKEEPER_TLS=on");
    expect(problems({ ZOOKEEPER_AUTH_FILE: digest })).toEqual([
      expect.stringMatching(/^ZOOKEEPER_AUTH_FILE: needs ZOOKEEPER_TLS=on/),
    ]);
    expect(problems({ ZOOKEEPER_AUTH_FILE: digest }, "127.0.0.1:2181,localhost:2182,[::1]:2183")).toEqual([]);
    expect(problems({ ZOOKEEPER_AUTH_FILE: digest }, "127.0.0.1:2181,zk.example:2181")).toHaveLength(1);
    expect(problems({ ZOOKEEPER_READERS: "x509:CN=x" })).toEqual([
      expect.stringMatching(/^ZOOKEEPER_READERS: is of use only/),
    ]);
    for (const wrong of ["world:anyone", "x509:", "digest:reader", "x509:CN=a;", "CN=a"])
      expect(problems({ ...tls(), ZOOKEEPER_READERS: wrong })).toEqual([
        expect.stringMatching(/^ZOOKEEPER_READERS: must be/),
      ]);
  });

  test("files are looked at before anything connects, and what they hold is never said", async () => {
    const other = await ca.issue({ subject: "/CN=other" });
    const [empty, noColon] = [join(ca.folder, "empty"), join(ca.folder, "no-colon")];
    await Promise.all([writeFile(empty, "\n"), writeFile(noColon, "fleet:fine\nhunter2\n")]);
    expect(problems({ ...tls(), ZOOKEEPER_TLS_CA_FILE: "/nowhere" })).toEqual([
      expect.stringMatching(/^ZOOKEEPER_TLS_CA_FILE: ENOENT/),
    ]);
    expect(problems({ ...tls(), ZOOKEEPER_TLS_CERT_FILE: digest })).toEqual([
      expect.stringMatching(/^ZOOKEEPER_TLS_CERT_FILE: .*PEM/),
    ]);
    expect(problems({ ...tls(), ZOOKEEPER_TLS_KEY_FILE: own.certFile })).toEqual([
      expect.stringMatching(/^ZOOKEEPER_TLS_KEY_FILE: /),
    ]);
    expect(problems({ ...tls(), ZOOKEEPER_TLS_KEY_FILE: other.keyFile })).toEqual([
      "ZOOKEEPER_TLS_KEY_FILE: is not the key of the certificate in ZOOKEEPER_TLS_CERT_FILE",
    ]);
    expect(problems({ ...tls(), ZOOKEEPER_AUTH_FILE: empty })).toEqual([
      `ZOOKEEPER_AUTH_FILE: ${empty} is empty: user:password is expected`,
    ]);
    const said = problems({ ...tls(), ZOOKEEPER_AUTH_FILE: noColon });
    expect(said).toEqual([`ZOOKEEPER_AUTH_FILE: ${noColon} has a line that is not user:password`]);
    expect(JSON.stringify(said)).not.toContain("hunter2");
  });
});
