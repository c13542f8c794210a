import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";

export interface BasicAuth {
  readonly user: string;
  readonly password: string;
}

/** What is sent to a host without being asked, for a deposit of this profile; undefined: nothing. Never rejects. */
export type Credentials = (url: URL, profile: string) => Promise<BasicAuth | undefined>;

/** By origin and profile. */
type Rules = ReadonlyMap<string, BasicAuth>;

const EVERY_PROFILE = "*";
// Neither an origin nor a profile's name has a space.
const keyOf = (origin: string, profile: string): string => `${origin} ${profile}`;

/**
 * Credentials from a secret file, `{ "host" or "host:port": { "user", "password", "profiles", "scheme" } }`, or a list of such rules for
 * one host. They are for exactly that host, port and scheme (https unless the rule says http), and for deposits of the profiles that the
 * rule names: otherwise whoever may deposit anything could have every host's files fetched with somebody else's password. The file is
 * read again when it has changed; while it cannot be read or is wrong, what was read last holds. `onProblem` is told once each time, and never what is in the file. No file: none for anybody. Throws if
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

  return async ({ origin }, profile) => {
    await refresh();
    return rules.get(keyOf(origin, profile)) ?? rules.get(keyOf(origin, EVERY_PROFILE));
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
  const rules = new Map<string, BasicAuth>();
  for (const [host, given] of entries) {
    for (const { origin, profiles, auth } of rulesOf(file, host, given)) {
      for (const profile of profiles) {
        const key = keyOf(origin, profile);
        if (rules.has(key))
          wrong(file, `two rules of ${JSON.stringify(host)} are for the profile ${profile}: keep one`);
        rules.set(key, auth);
      }
    }
  }
  return rules;
}

interface Rule {
  readonly origin: string;
  readonly profiles: readonly string[];
  readonly auth: BasicAuth;
}

const rulesOf = (file: string, host: string, given: unknown): readonly Rule[] =>
  (Array.isArray(given) ? given : [given]).map((rule) => ruleOf(file, host, rule));

function ruleOf(file: string, host: string, rule: unknown): Rule {
  const { user, password, profiles, scheme = "https", ...rest } = objectOf(rule) ?? {};
  const shown = JSON.stringify(host);
  if (!isPlainText(user) || user.includes(":") || !isPlainText(password) || Object.keys(rest).length > 0) {
    return wrong(file, `the rule of ${shown} must have a user, a password, profiles and at most a scheme`);
  }
  if (!areProfiles(profiles)) {
    const names = `"profiles": a list of names, or ["${EVERY_PROFILE}"] for all`;
    return wrong(file, `the rule of ${shown} must name the profiles whose deposits may use it (${names})`);
  }
  const origin = originOf(String(scheme), host);
  if (origin === undefined) return wrong(file, `${shown} is no host or host:port for http or https`);
  return { origin, profiles, auth: { user, password } };
}

/** At least one: a rule that is for nobody is a mistake. */
const areProfiles = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string" && /^\S+$/.test(name));

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
