/** A certificate authority of a test's own: real certificates, made by openssl in milliseconds. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findTool } from "@sluice/local-parts";

const run = promisify(execFile);

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** Key and certificate in one file, as a ZooKeeper server wants them. */
  readonly storeFile: string;
}

export interface CertificateRequest {
  /** As openssl writes it: /O=Example/CN=fleet. */
  readonly subject: string;
  /** As openssl writes them: IP:127.0.0.1,DNS:localhost. */
  readonly names?: string;
  /** From now; -1 = it has expired. Default 2. */
  readonly days?: number;
}

export interface CertificateAuthority {
  /** For whatever else a test keeps in files; removed with it. */
  readonly folder: string;
  readonly caFile: string;
  issue(request: CertificateRequest): Promise<Certificate>;
  remove(): Promise<void>;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

export async function certificateAuthority(name = "test CA"): Promise<CertificateAuthority> {
  const tool = await findTool("openssl", { part: "openssl" });
  if ("skip" in tool) throw new Error(tool.skip);
  const folder = await mkdtemp(join(tmpdir(), "sluice-ca-"));
  const at = (file: string): string => join(folder, file);
  const openssl = (...args: readonly string[]) => run(tool.path, args);
  const [caFile, caKeyFile] = [at("ca.pem"), at("ca.key")];
  const subject = ["-subj", `/CN=${name}`];
  await openssl("req", "-x509", ...NEW_KEY, "-days", "3", ...subject, "-keyout", caKeyFile, "-out", caFile);
  let issued = 0;

  return {
    folder,
    caFile,
    issue: async ({ subject: whom, names = "DNS:client", days = 2 }) => {
      const stem = at(`certificate-${++issued}`);
      const [keyFile, requestFile, certFile, namesFile] = [".key", ".csr", ".pem", ".ext"].map((end) => stem + end) as [
        string,
        string,
        string,
        string,
      ];
      await writeFile(namesFile, `subjectAltName=${names}\n`);
      await openssl("req", ...NEW_KEY, "-subj", whom, "-keyout", keyFile, "-out", requestFile);
      const signed = ["-CA", caFile, "-CAkey", caKeyFile, "-set_serial", String(issued), "-days", String(days)];
      await openssl("x509", "-req", "-in", requestFile, ...signed, "-extfile", namesFile, "-out", certFile);
      const storeFile = `${stem}-store.pem`;
      await writeFile(storeFile, (await readFile(keyFile, "utf8")) + (await readFile(certFile, "utf8")));
      return { certFile, keyFile, storeFile };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
