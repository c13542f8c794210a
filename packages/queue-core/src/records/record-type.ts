/** How the data of a node is read and printed. Reading is tolerant, writing exact. */
import { z } from "zod";

/** A reader's answer: a broken node is a fact about the tree, not an exception. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export interface RecordType<T> {
  readonly name: string;
  readonly decode: (data: Buffer) => Parsed<T>;
  readonly encode: (value: T) => Buffer;
}

export const text = z.string();
export const optionalText = z
  .string()
  .nullish()
  .transform((raw) => raw ?? undefined);

/** Keys with the value undefined are not written; the order is the schema's, unknown keys follow. */
export function jsonRecord<T>(name: string, schema: z.ZodType<T>): RecordType<T> {
  return {
    name,
    decode(data) {
      const raw = parseJson(data);
      if (raw === undefined) return { ok: false, problem: `${name}: not JSON` };
      const parsed = schema.safeParse(raw);
      if (parsed.success) return { ok: true, value: parsed.data };
      const first = parsed.error.issues[0];
      return { ok: false, problem: `${name}.${first?.path.join(".") ?? ""}: ${first?.message ?? "invalid"}` };
    },
    encode: (value) => Buffer.from(JSON.stringify(value)),
  };
}

function parseJson(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

export function textRecord<T>(
  name: string,
  read: (raw: string) => T | null,
  print: (value: T) => string,
): RecordType<T> {
  return {
    name,
    decode(data) {
      const value = read(data.toString("utf8").trim());
      return value === null
        ? { ok: false, problem: `${name}: ${JSON.stringify(data.toString("utf8"))}` }
        : { ok: true, value };
    },
    encode: (value) => Buffer.from(print(value)),
  };
}

/** -1 is what CDL's estimator writes for an unknown size; it reads as 0, which is the seeds' word for it. */
const readCount = (raw: string): number | null => (/^-?\d{1,15}$/.test(raw) ? Math.max(0, Number(raw)) : null);
export const count = (name: string): RecordType<number> => textRecord(name, readCount, (value) => value.toFixed(0));

/** Rising numbers as steps from each to the next, base 36: a hundred thousand neighbours take 200 KB. */
export function readNumbers(raw: string): readonly number[] | null {
  const numbers: number[] = [];
  let last = 0;
  for (const word of raw === "" ? [] : raw.split(",")) {
    if (!/^[0-9a-z]{1,7}$/.test(word)) return null;
    last += Number.parseInt(word, 36);
    numbers.push(last);
  }
  return numbers;
}
export const printNumbers = (numbers: readonly number[]): string =>
  numbers.map((number, i) => (number - (numbers[i - 1] ?? 0)).toString(36)).join(",");
