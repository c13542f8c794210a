/** The settings of the way to ZooKeeper, the same for every service and for tools that go there directly. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isNativeError } from "node:util/types";
import { z } from "zod";
import { makeAccess, OPEN_ACCESS, readDigests, type Access } from "./access.ts";
import type { Identity } from "./acl.ts";
import { isThisMachine } from "./loopback.ts";
import { parseConnect } from "./paths.ts";

/** A file that is looked at once here, so that a wrong one is said by name; it is read again for every connection. */
const file = (check: (path: string) => unknown) =>
  z
    .string()
    .superRefine((path, ctx) => {
      try {
        check(path);
      } catch (error) {
        ctx.addIssue({ code: "custom", message: isNativeError(error) ? error.message : String(error) });
      }
    })
    .optional();

const certificateIn = (path: string): X509Certificate => new X509Certificate(readFileSync(path));
const keyIn = (path: string) => createPrivateKey(readFileSync(path));

/** It travels with every node that is made. */
const READERS_MAX = 1_000;

const readers = z.string().transform((text, ctx): readonly Identity[] => {
  const parsed = parseReaders(text);
  if (parsed !== null && text.length <= READERS_MAX) return parsed;
  ctx.addIssue({
    code: "custom",
    message: "must be x509:SUBJECT or digest:USER:HASH, several separated by semicolons",
  });
  return z.NEVER;
});

export const ZOOKEEPER_FIELDS = {
  ZOOKEEPER_TLS: z.enum(["on", "off"], { error: "must be on or off" }).default("off"),
  /** Who must have signed the servers' certificates. */
  ZOOKEEPER_TLS_CA_FILE: file(certificateIn),
  /** Our certificate (with intermediate ones, if any) and its key: who we are. */
  ZOOKEEPER_TLS_CERT_FILE: file(certificateIn),
  ZOOKEEPER_TLS_KEY_FILE: file(keyIn),
  /** The name in every server's certificate; without it each one's name as in ZOOKEEPER_CONNECT. */
  ZOOKEEPER_TLS_SERVERNAME: z.string().optional(),
  /** `user:password`, shown to the server as a digest identity; several lines while a password is replaced. */
  ZOOKEEPER_AUTH_FILE: file(readDigests),
  /** Who may read what we make, besides ourselves. */
  ZOOKEEPER_READERS: readers.default([]),
} as const;

export type ZooKeeperSettings = Readonly<z.infer<z.ZodObject<typeof ZOOKEEPER_FIELDS>>>;

type Values = Readonly<Record<string, unknown>>;

const isSet = (values: Values, name: string): boolean => values[name] !== undefined;
const hasIdentity = (values: Values): boolean =>
  isSet(values, "ZOOKEEPER_TLS_CERT_FILE") || isSet(values, "ZOOKEEPER_AUTH_FILE");
const tlsIsOn = (values: Values): boolean => values["ZOOKEEPER_TLS"] === "on";

const onlyWithTls = (path: string) => ({
  path,
  needs: ["ZOOKEEPER_TLS", path],
  holds: tlsIsOn,
  message: "is of use only with ZOOKEEPER_TLS=on",
});

/** Settings that would leave a door open by mistake are refused together, before anything connects. */
export const ZOOKEEPER_RELATIONS = [
  {
    path: "ZOOKEEPER_TLS_CA_FILE",
    needs: ["ZOOKEEPER_TLS"],
    holds: (c: Values) => !tlsIsOn(c) || isSet(c, "ZOOKEEPER_TLS_CA_FILE"),
    message: "is required with ZOOKEEPER_TLS=on",
  },
  {
    path: "ZOOKEEPER_TLS",
    needs: ["ZOOKEEPER_TLS"],
    holds: (c: Values) => !tlsIsOn(c) || hasIdentity(c),
    message:
      "is on, and we are nobody: set ZOOKEEPER_TLS_CERT_FILE and _KEY_FILE, or ZOOKEEPER_AUTH_FILE, or what we make is open to everyone",
  },
  {
    path: "ZOOKEEPER_TLS_KEY_FILE",
    needs: ["ZOOKEEPER_TLS"],
    holds: (c: Values) => isSet(c, "ZOOKEEPER_TLS_KEY_FILE") === isSet(c, "ZOOKEEPER_TLS_CERT_FILE"),
    message: "and ZOOKEEPER_TLS_CERT_FILE go together",
  },
  {
    path: "ZOOKEEPER_TLS_KEY_FILE",
    needs: ["ZOOKEEPER_TLS_CERT_FILE", "ZOOKEEPER_TLS_KEY_FILE"],
    holds: (c: Values) =>
      certificateIn(String(c["ZOOKEEPER_TLS_CERT_FILE"])).checkPrivateKey(keyIn(String(c["ZOOKEEPER_TLS_KEY_FILE"]))),
    message: "is not the key of the certificate in ZOOKEEPER_TLS_CERT_FILE",
  },
  onlyWithTls("ZOOKEEPER_TLS_CA_FILE"),
  onlyWithTls("ZOOKEEPER_TLS_CERT_FILE"),
  onlyWithTls("ZOOKEEPER_TLS_SERVERNAME"),
  {
    path: "ZOOKEEPER_AUTH_FILE",
    needs: ["ZOOKEEPER_TLS", "ZOOKEEPER_AUTH_FILE", "ZOOKEEPER_CONNECT"],
    holds: (c: Values) => tlsIsOn(c) || allLoopback(String(c["ZOOKEEPER_CONNECT"])),
    message: "needs ZOOKEEPER_TLS=on: the password would cross the network in the clear",
  },
  {
    path: "ZOOKEEPER_READERS",
    needs: ["ZOOKEEPER_READERS"],
    holds: (c: Values) => (c["ZOOKEEPER_READERS"] as readonly Identity[]).length === 0 || hasIdentity(c),
    message: "is of use only with a certificate or ZOOKEEPER_AUTH_FILE: without, everyone may read",
  },
];

const allLoopback = (connect: string): boolean =>
  parseConnect(connect).servers.every(({ host }) => isThisMachine(host));

/** A subject has commas of its own, so that the list needs another separator. */
function parseReaders(text: string): readonly Identity[] | null {
  const parts = text.split(";").map((part) => /^(?<scheme>x509|digest):(?<id>.+)$/.exec(part.trim())?.groups);
  const found = parts.flatMap((part) =>
    part === undefined ? [] : [{ scheme: part["scheme"] ?? "", id: part["id"] ?? "" }],
  );
  const valid = found.every(({ scheme, id }) => scheme !== "digest" || /^[^:]+:[^:]+$/.test(id));
  return found.length === parts.length && valid ? found : null;
}

/** `rightsOf`: what the owners of a node may do with it. */
export function accessFrom(settings: ZooKeeperSettings, rightsOf: (path: string) => number): Access {
  const { ZOOKEEPER_TLS_CA_FILE: caFile, ZOOKEEPER_AUTH_FILE: authFile } = settings;
  const { ZOOKEEPER_TLS_CERT_FILE: certFile, ZOOKEEPER_TLS_KEY_FILE: keyFile } = settings;
  const tls =
    settings.ZOOKEEPER_TLS === "off" || caFile === undefined
      ? null
      : {
          caFile,
          own: certFile === undefined || keyFile === undefined ? null : { certFile, keyFile },
          servername: settings.ZOOKEEPER_TLS_SERVERNAME ?? null,
        };
  if (tls === null && authFile === undefined) return OPEN_ACCESS;
  return makeAccess({ tls, authFile: authFile ?? null, readers: settings.ZOOKEEPER_READERS, rightsOf });
}

export type ReadSettings =
  | { readonly ok: true; readonly settings: ZooKeeperSettings }
  | { readonly ok: false; readonly problems: readonly string[] };

/** From an environment, for who has no configuration of a service; everything that is wrong, by name. */
export function readZooKeeperSettings(
  connect: string,
  env: Readonly<Record<string, string | undefined>>,
): ReadSettings {
  const given = Object.fromEntries(
    Object.keys(ZOOKEEPER_FIELDS).map((name) => [name, env[name] === "" ? undefined : env[name]]),
  );
  const parsed = z.object(ZOOKEEPER_FIELDS).safeParse(given);
  if (!parsed.success) {
    return { ok: false, problems: parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) };
  }
  const values: Values = { ...parsed.data, ZOOKEEPER_CONNECT: connect };
  const broken = ZOOKEEPER_RELATIONS.filter(({ needs }) => needs.every((name) => isSet(values, name))).filter(
    ({ holds }) => !holds(values),
  );
  if (broken.length > 0) return { ok: false, problems: broken.map(({ path, message }) => `${path}: ${message}`) };
  return { ok: true, settings: parsed.data };
}
