const SECRET_NAME = /SECRET|PASSWORD|PASSPHRASE|TOKEN|CREDENTIAL|(^|_)KEY$/;
const HIDDEN = "[redacted]";

/** The settings as they may be printed: no secrets, no userinfo, no query strings (they may be signatures). */
export function redactConfig(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, redactValue(name, value)]));
}

/** The hash of a password, as access lists have it, is unsalted: as good as the password. */
const HASHES_NAME = "ZOOKEEPER_READERS";

function redactValue(name: string, value: unknown): unknown {
  if (name === HASHES_NAME && Array.isArray(value)) return value.length === 0 ? value : HIDDEN;
  if (typeof value !== "string" || value === "") return value;
  if (SECRET_NAME.test(name)) return HIDDEN;
  const [address = "", ...query] = value.replace(/(:\/\/)[^/@\s]*@/g, `$1${HIDDEN}@`).split("?");
  return query.length === 0 ? address : `${address}?${HIDDEN}`;
}
