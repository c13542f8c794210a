/** What the manifests are held to, taken from the code and from the documents that are generated from it. */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { certificateAuthority, type CertificateAuthority } from "@sluice/testkit";
import type { Metric } from "../src/checks/metrics.ts";
import type { MadeByHand } from "../src/checks/references.ts";
import type { Settings, SettingsFacts } from "../src/checks/settings.ts";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string): Promise<string> => readFile(`${ROOT}${path}`, "utf8");

/** Every folder with a program. */
export const SERVICES = (await readdir(`${ROOT}services`)).filter((name) =>
  existsSync(`${ROOT}services/${name}/src/main.ts`),
);

const isSchema = (value: unknown): value is Settings["schema"] =>
  typeof value === "object" && value !== null && "shape" in value && typeof value.shape === "object";
const isRelations = (value: unknown): value is Settings["relations"] =>
  Array.isArray(value) && value.every((row: unknown) => typeof row === "object" && row !== null && "holds" in row);

async function settingsOf(service: string): Promise<Settings> {
  const module = (await import(`${ROOT}services/${service}/src/config.ts`)) as Readonly<Record<string, unknown>>;
  const exported = Object.values(module);
  const schema = exported.find(isSchema);
  if (schema === undefined) throw new Error(`${service} exports no schema of its settings`);
  return { schema, relations: exported.filter(isRelations).flat() };
}

/** As docs/metrics.md lists them, which is generated from the catalogues. */
export async function metricsOfDocument(): Promise<readonly Metric[]> {
  const rows = [...(await read("docs/metrics.md")).matchAll(/^\| `(\w+)` \| \w+ \| ([^|]*) \|/gm)];
  return rows.map(([, name = "", labels = ""]) => ({
    name,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label),
  }));
}

interface ByHand {
  readonly kind: string;
  readonly name: string;
  readonly keys: readonly string[];
}

/** The table of docs/kubernetes.md. */
export async function madeByHand(): Promise<readonly ByHand[]> {
  const rows = [...(await read("docs/kubernetes.md")).matchAll(/^\| (Secret|ConfigMap) `([\w-]+)` *\|([^|]*)\|/gm)];
  return rows.map(([, kind = "", name = "", cell = ""]) => ({
    kind,
    name,
    keys: [...cell.matchAll(/`([\w.-]+)`/g)].map(([, key = ""]) => key),
  }));
}

/** Of the forms that docs/kubernetes.md names. */
const SAMPLES: Readonly<Record<string, string>> = {
  "tokens/tokens.json": '{"tokens":[]}',
  "inventory/url": "mysql://sluice:secret@10.0.10.7:3306/inventory",
  "storage/url": "merritt+https://store.internal/store",
  "ezid/credentials": "user:secret",
  "mail/url": "smtp://sluice:secret@10.0.30.7:587",
  "download-auth/hosts.json": "{}",
  "job-peers/secret": "a-secret-that-all-job-apis-share",
  "scheduler-token/token": "slt_0123456789abcdef",
  "runner-token/token": "slt_0123456789abcdef",
  "maintainer-token/token": "slt_0123456789abcdef",
};

export interface Facts extends SettingsFacts {
  readonly byHand: readonly ByHand[];
  remove(): Promise<void>;
}

export async function gatherFacts(): Promise<Facts> {
  const authority = await certificateAuthority();
  const byHand = await madeByHand();
  const settings = new Map<string, Settings>();
  // One after the other: jest's loader does not bear modules that are asked for at the same time.
  for (const service of SERVICES) settings.set(service, await settingsOf(service));
  const texts = new Map([...Object.entries(SAMPLES), ...(await certificates(authority))]);
  const keys = byHand.flatMap((row) => (row.kind === "Secret" ? row.keys.map((key) => `${row.name}/${key}`) : []));
  for (const path of keys) {
    await mkdir(join(authority.folder, path, ".."), { recursive: true });
    await writeFile(join(authority.folder, path), texts.get(path) ?? "");
  }
  return {
    byHand,
    secrets: authority.folder,
    hasSample: (secret, key) => keys.includes(`${secret}/${key}`),
    settingsOf(service) {
      const found = settings.get(service);
      if (found === undefined) throw new Error(`there is no service ${service}`);
      return found;
    },
    remove: () => authority.remove(),
  };
}

async function certificates(authority: CertificateAuthority): Promise<readonly (readonly [string, string])[]> {
  const { certFile, keyFile } = await authority.issue({ subject: "/CN=fleet" });
  return [
    ["zookeeper-client/ca.crt", await readFile(authority.caFile, "utf8")],
    ["zookeeper-client/tls.crt", await readFile(certFile, "utf8")],
    ["zookeeper-client/tls.key", await readFile(keyFile, "utf8")],
  ];
}

export const namesByHand = ({ byHand }: Facts): MadeByHand => ({
  secrets: byHand.filter(({ kind }) => kind === "Secret").map(({ name }) => name),
  configMaps: byHand.filter(({ kind }) => kind === "ConfigMap").map(({ name }) => name),
});
