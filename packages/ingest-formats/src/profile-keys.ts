import { parseArk } from "./ark.ts";
import type { FormatProblem } from "./problem.ts";
import type { Property } from "./properties.ts";
import { quote } from "./text.ts";

/** Merritt wires its Java handlers here; we read over them. */
const IGNORED = /^Handler[A-Za-z]+\.\d+$/;

/** Takes typed values out of a property file and writes down, by key, what is wrong with them. */
export class ProfileKeys {
  readonly problems: FormatProblem[] = [];
  readonly #properties: readonly Property[];
  readonly #asked = new Set<string>();
  readonly #idle = new Map<string, string>();

  constructor(properties: readonly Property[]) {
    this.#properties = properties;
  }

  /** The value of a key; the last one counts, as in Java. Empty is absent. */
  text(key: string): string | undefined {
    this.#asked.add(key);
    const property = this.#find(key);
    if (property === undefined || property.value === "") return undefined;
    if (property.value.includes("${")) {
      this.complain(key, `${quote(property.value)} was not filled in: the file is a template`, "a value");
      return undefined;
    }
    return property.value;
  }

  required(key: string, accepts: (value: string) => boolean, expected: string): string | undefined {
    const failed = this.problems.length;
    const value = this.text(key);
    if (value !== undefined && accepts(value)) return value;
    if (this.problems.length > failed) return undefined;
    this.complain(key, value === undefined ? `${key} is missing` : `${quote(value)} is not allowed`, expected);
    return undefined;
  }

  oneOf<T extends string>(key: string, allowed: readonly T[]): T | undefined {
    const value = this.required(key, (text) => allowed.some((name) => name === text), allowed.join(" or "));
    return allowed.find((name) => name === value);
  }

  optionalOneOf<T extends string>(key: string, allowed: readonly T[]): T | undefined {
    return this.text(key) === undefined ? undefined : this.oneOf(key, allowed);
  }

  ark(key: string): string | undefined {
    return this.required(key, (text) => parseArk(text).ok, "an ARK (ark:/NAAN/Name)");
  }

  /** `Key.1`, `Key.2`, … in the order of their numbers, gaps allowed; at least one. */
  arks(key: string): string[] {
    if (this.#numbered(key).length === 0) {
      this.complain(`${key}.1`, `${key}.1 is missing`, "an ARK (ark:/NAAN/Name)");
    }
    return this.optionalArks(key);
  }

  /** The same, and there may be none. */
  optionalArks(key: string): string[] {
    return this.#numbered(key).flatMap((name) => this.ark(name) ?? []);
  }

  mailAddresses(key: string): string[] {
    return this.#texts(key, isMailAddress, "a mail address");
  }

  /** Addresses, all of a domain, or all. */
  mailPatterns(key: string): string[] {
    const isPattern = (text: string): boolean =>
      text === "*" || isMailAddress(text.startsWith("@") ? `any${text}` : text);
    return this.#texts(key, isPattern, "a mail address, @domain or *");
  }

  httpUrl(key: string): string | undefined {
    if (this.text(key) === undefined) return undefined;
    return this.required(key, isHttpUrl, "an http or https URL");
  }

  integer(key: string, least: number, most: number): number | undefined {
    const given = this.text(key);
    if (given === undefined) return undefined;
    const inRange = (text: string) => /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most;
    const value = this.required(key, inRange, `a whole number from ${least} to ${most}`);
    return value === undefined ? undefined : Number(value);
  }

  /** Whether a phase runs a handler of Merritt's: it does where the profile wires none at all. */
  wires(phase: string, handler: string): boolean {
    const wired = this.#numbered(`Handler${phase}`).map((name) => this.#find(name)?.value ?? "");
    return wired.length === 0 || wired.some((value) => value.endsWith(`.${handler}`));
  }

  hasNoEffect(key: string, why: string): void {
    this.#idle.set(key, why);
  }

  boolean(key: string): boolean {
    return this.optionalOneOf(key, ["true", "false"] as const) === "true";
  }

  complain(key: string, message: string, expected: string): void {
    const line = this.#find(key)?.line;
    const problem = { code: "PROFILE_KEY_WRONG", message, column: key, expected };
    this.problems.push(line === undefined ? problem : { ...problem, line });
  }

  /** Keys that nobody asked for, that have no effect, and that stand there twice. */
  warnings(): FormatProblem[] {
    return this.#properties.flatMap((property, index) => {
      const { key, line } = property;
      if (IGNORED.test(key)) return [];
      if (!this.#asked.has(key)) {
        return [{ code: "PROFILE_KEY_UNKNOWN", message: `${key} is not known and has no effect`, column: key, line }];
      }
      const idle = this.#idle.get(key);
      if (idle !== undefined) {
        return [{ code: "PROFILE_KEY_IDLE", message: `${key} has no effect: ${idle}`, column: key, line }];
      }
      if (this.#properties.findIndex((other) => other.key === key) === index) return [];
      return [
        { code: "PROFILE_KEY_TWICE", message: `${key} stands there twice, the last one counts`, column: key, line },
      ];
    });
  }

  #find(key: string): Property | undefined {
    return this.#properties.findLast((property) => property.key === key);
  }

  #texts(key: string, isRight: (text: string) => boolean, expected: string): string[] {
    return this.#numbered(key).flatMap((name) => {
      const given = this.text(name);
      return given === undefined ? [] : (this.required(name, isRight, expected) ?? []);
    });
  }

  #numbered(key: string): string[] {
    const number = (name: string): number => Number(name.slice(key.length + 1));
    const names = this.#properties
      .map((property) => property.key)
      .filter((name) => name.startsWith(`${key}.`) && /^\d{1,6}$/.test(name.slice(key.length + 1)));
    return [...new Set(names)].sort((a, b) => number(a) - number(b));
  }
}

/** Enough to keep line ends, commas and a second address out of a mail's header. */
const isMailAddress = (text: string): boolean => /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,255}$/.test(text);

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}
