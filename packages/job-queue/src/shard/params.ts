/** The named texts of a request. */
import { fieldsOf } from "../json-text.ts";
import { type Status, STATUS } from "./statuses.ts";

/** Names are found in any case. */
export class Params {
  readonly #texts: ReadonlyMap<string, string>;

  constructor(fields: Readonly<Record<string, string>>) {
    this.#texts = new Map(Object.entries(fields).map(([name, text]) => [name.toLowerCase(), text]));
  }

  /** One job of a CreateJobs, as JSON text. What is no text stays as it was written; what the whole request says counts where the job is silent. */
  static ofJson(fields: string, mockRequest: string | null): Params {
    const common = mockRequest === null ? {} : { mockRequest };
    return new Params({ ...common, ...Object.fromEntries(fieldsOf(fields)) });
  }

  text(name: string): string | null {
    return this.#texts.get(name.toLowerCase()) ?? null;
  }

  flag(name: string): boolean {
    return !["", "0", "false"].includes((this.text(name) ?? "").toLowerCase());
  }
}

export const isStatus = (value: unknown): value is Status =>
  typeof value === "object" && value !== null && "code" in value && "text" in value;

/** Null for what is absent or empty. */
export const given = (params: Params, name: string): string | null => {
  const text = params.text(name);
  return text === "" ? null : text;
};

export function sized(params: Params, name: string, least: number, most: number): string | Status {
  const text = params.text(name) ?? "";
  if (text.length < least) return STATUS.missing(name);
  return Buffer.byteLength(text) > most ? STATUS.malformed(name) : text;
}

/** A name is shown to people and stands in logs and patterns: NUL, line ends and the like have no place in it. */
export function named(params: Params, name: string, most: number): string | Status {
  const text = sized(params, name, 1, most);
  return typeof text === "string" && /\p{Cc}/u.test(text) ? STATUS.controlCharacters(name) : text;
}

export function integer(params: Params, name: string): number | Status {
  const raw = given(params, name);
  if (raw === null) return STATUS.missing(name);
  return /^(0|-?[1-9]\d{0,14})$/.test(raw) ? Number(raw) : STATUS.malformed(name);
}

const PRIORITIES = ["0", "500", "1000"];

/** Null if none of the names is given. */
export function priorityOf(params: Params, names: readonly string[]): number | null | Status {
  const raw = names.map((name) => given(params, name)).find((text) => text !== null) ?? null;
  if (raw === null) return null;
  return PRIORITIES.includes(raw) ? Number(raw) : STATUS.badPriority;
}
