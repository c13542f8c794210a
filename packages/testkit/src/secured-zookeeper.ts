/** A real ZooKeeper behind TLS, with the identities that a fleet has. */
import { queueAccess } from "@sluice/queue-core";
import { readZooKeeperSettings, type Access } from "@sluice/zookeeper";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { certificateAuthority, type Certificate, type CertificateAuthority } from "./certificates.ts";
import { ownZooKeeper, type OwnZooKeeper } from "./test-zookeeper.ts";

export interface SecuredZooKeeper {
  readonly server: OwnZooKeeper;
  readonly ca: CertificateAuthority;
  readonly fleet: Certificate;
  readonly reader: Certificate;
  /** The settings of a service, or of a tool, that comes with this certificate. */
  env(certificate: Certificate, more?: Readonly<Record<string, string>>): Record<string, string>;
  /** The same, as the queue's own code takes it. */
  access(certificate: Certificate, more?: Readonly<Record<string, string>>): Access;
  /** A file below the CA's folder. */
  file(name: string, text: string): Promise<string>;
  stop(): Promise<void>;
}

/** As the server writes it, and so as access lists must name it. */
export const READER_ID = "x509:CN=sluice-reader,O=Example";

export async function securedZooKeeper(): Promise<SecuredZooKeeper> {
  const ca = await certificateAuthority();
  const [own, fleet, reader] = await Promise.all([
    ca.issue({ subject: "/CN=zookeeper", names: "IP:127.0.0.1,DNS:localhost" }),
    ca.issue({ subject: "/O=Example/CN=sluice-fleet" }),
    ca.issue({ subject: "/O=Example/CN=sluice-reader" }),
  ]);
  const server = await ownZooKeeper({
    tls: { keyStoreFile: own.storeFile, caFile: ca.caFile, probe: fleet },
  });
  const env: SecuredZooKeeper["env"] = ({ certFile, keyFile }, more = {}) => ({
    ZOOKEEPER_TLS: "on",
    ZOOKEEPER_TLS_CA_FILE: ca.caFile,
    ZOOKEEPER_TLS_CERT_FILE: certFile,
    ZOOKEEPER_TLS_KEY_FILE: keyFile,
    ZOOKEEPER_READERS: READER_ID,
    ...more,
  });
  return {
    server,
    ca,
    fleet,
    reader,
    env,
    access: (certificate, more) => {
      const read = readZooKeeperSettings(server.connect, env(certificate, more));
      if (!read.ok) throw new Error(read.problems.join("; "));
      return queueAccess(read.settings);
    },
    file: async (name, text) => {
      const path = join(ca.folder, name);
      await writeFile(path, text, { mode: 0o600 });
      return path;
    },
    stop: async () => {
      await server.stop();
      await ca.remove();
    },
  };
}
