import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";

export interface BasicAuth {
  readonly user: string;
  readonly password: string;
}

/** What is sent to a host without being asked; undefined: nothing. Never rejects. */
export type Credentials = (url: URL) => Promise<BasicAuth | undefined>;

/** By origin. */
type Rules = ReadonlyMap<string, BasicAuth>;

/**
 * Credentials from a secret file, `{ "host" or "host:port": { "user", "password", "scheme" } }`, for exactly that host, port and
 * scheme (https unless the rule says http). The file is read again when it has changed; while it cannot be read or is wrong,
 * what was read last holds. `onProblem` is told once each time, and never what is in the file. No file: none for anybody. Throws if
 * the file is wrong from the beginning.
 */
export async function openCredentials(
  file: string | undefined,
  onProblem: (message: string) => void,
): Promise<Credentials> {
  return file === undefined ? () => Promise.resolve(undefined) : await watchedCredentials(file, onProblem);
}

async function watchedCredentials(file: string, onProblem: (message: string) => void): Promise<Credentials> {
  let seen = await versionOf(file);
  let rules = await readRules(file);
  await warnOfReaders(file, onProblem);

  async function refresh(): Promise<void> {
    const version = await versionOf(file).catch(() => "gone");
    if (version === seen) return;
    seen = version;
    try {
      rules = await readRules(file);
      await warnOfReaders(file, onProblem);
    } catch (error) {
      onProblem(`${error instanceof Error ? error.message : String(error)}; what was read before still holds`);
    }
  }

  return async (url) => {
    await refresh();
    return rules.get(url.origin);
  };
}

async function versionOf(file: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(file);
  return `${mtimeMs} ${size} ${ino}`;
}

async function warnOfReaders(file: string, onProblem: (message: string) => void): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o007) !== 0) onProblem(`${file} can be read by everybody on this machine`);
}

/** What is wrong with such a file, for whoever reads the configuration; null: nothing. */
export function credentialsProblem(file: string): string | null {
  try {
    parseRules(file, readFileSync(file, "utf8"));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const readRules = async (file: string): Promise<Rules> => parseRules(file, await readFile(file, "utf8"));

function parseRules(file: string, text: string): Rules {
  const entries = Object.entries(objectOf(parseJson(text)) ?? wrong(file, "it is no JSON object"));
  return new Map(entries.map(([host, rule]) => ruleOf(file, host, rule)));
}

function ruleOf(file: string, host: string, rule: unknown): readonly [origin: string, BasicAuth] {
  const { user, password, scheme = "https", ...rest } = objectOf(rule) ?? {};
  if (!isPlainText(user) || user.includes(":") || !isPlainText(password) || Object.keys(rest).length > 0) {
    return wrong(file, `the rule of ${JSON.stringify(host)} must have a user, a password and at most a scheme`);
  }
  const origin = originOf(String(scheme), host);
  if (origin === undefined) return wrong(file, `${JSON.stringify(host)} is no host or host:port for http or https`);
  return [origin, { user, password }];
}

/** Undefined: more than a host, or less. */
function originOf(scheme: string, host: string): string | undefined {
  const url = `${scheme}://${host}`;
  if ((scheme !== "https" && scheme !== "http") || /[/?#@\\\s]/.test(host) || !URL.canParse(url)) return undefined;
  return new URL(url).origin;
}

const objectOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;

const isPlainText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && !/[\u0000-\u001F\u007F]/.test(value);

/** The parser's own message would quote the secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wrong(file: string, why: string): never {
  throw new Error(`${file}: ${why}`);
}
