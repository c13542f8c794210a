/**
 * A queue as it was listed last: its entries in order, as numbers, with what was learned of each. A list of a hundred thousand
 * names costs milliseconds so, and what is known of an entry is carried over from list to list.
 */
import { type JobId, type QueueEntry, shareOf } from "@sluice/queue-core";

/** A priority and the ten digits of a job's number fit into one exact number, in the order of their names. */
const NUMBERS = 10_000_000_000;
const PRIORITY_DIGITS = 2;
/** `05-jid0000000001` */
const NAME_LENGTH = 16;
const DIGITS_AT = 6;
const ZERO = 48;
const NINE = 57;
const UNKNOWN = -1;
const NOT_OURS = -1;
const { floor } = Math;

export class ListedQueue {
  #codes = new Float64Array(0);
  #shares = new Uint16Array(0);
  /** Index into the names of collections. */
  #collections = new Int32Array(0);
  #anybodysFromMs = new Float64Array(0);
  readonly #names: string[] = [];
  readonly #indexOfName = new Map<string, number>();

  get length(): number {
    return this.#codes.length;
  }

  /** The directory as listed just now. `anybodysFromMs`: for entries that were not there before. Names of others are left out. */
  update(names: readonly string[], anybodysFromMs: number): void {
    const [codes, shares, collections, from] = [codesOf(names), this.#shares, this.#collections, this.#anybodysFromMs];
    const before = this.#codes;
    const count = codes.length;
    this.#codes = codes;
    this.#shares = new Uint16Array(count);
    this.#collections = new Int32Array(count).fill(UNKNOWN);
    this.#anybodysFromMs = new Float64Array(count).fill(anybodysFromMs);
    let old = 0;
    for (let at = 0; at < count; at++) {
      const code = codes[at] ?? 0;
      while (old < before.length && (before[old] ?? 0) < code) old += 1;
      if (before[old] === code) {
        this.#shares[at] = shares[old] ?? 0;
        this.#collections[at] = collections[old] ?? UNKNOWN;
        this.#anybodysFromMs[at] = from[old] ?? anybodysFromMs;
      } else this.#shares[at] = shareOf(idOf(code));
    }
  }

  at(position: number): QueueEntry {
    const code = this.#codes[position] ?? NOT_OURS;
    return { priority: floor(code / NUMBERS), id: idOf(code) };
  }

  priorityAt(position: number): number {
    return floor((this.#codes[position] ?? NOT_OURS) / NUMBERS);
  }

  shareAt(position: number): number {
    return this.#shares[position] ?? 0;
  }

  /** From when on it is no longer its proper worker's alone. */
  anybodysFromMs(position: number): number {
    return this.#anybodysFromMs[position] ?? 0;
  }

  /** undefined: not known yet. */
  collectionAt(position: number): string | undefined {
    return this.#names[this.#collections[position] ?? UNKNOWN];
  }

  learned(position: number, collection: string): void {
    let index = this.#indexOfName.get(collection);
    if (index === undefined) {
      index = this.#names.push(collection) - 1;
      this.#indexOfName.set(collection, index);
    }
    this.#collections[position] = index;
  }

  /** -1: it is not there. */
  positionOf({ priority, id }: QueueEntry): number {
    const code = priority * NUMBERS + numberOf(id);
    let [low, high] = [0, this.#codes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#codes[middle] ?? 0) < code) low = middle + 1;
      else high = middle;
    }
    return this.#codes[low] === code ? low : -1;
  }
}

const numberOf = (id: JobId): number => Number(id.slice("jid".length));

const idOf = (code: number): JobId => `jid${String(code % NUMBERS).padStart(10, "0")}` as JobId;

/** Sorted. */
function codesOf(names: readonly string[]): Float64Array<ArrayBuffer> {
  const codes = new Float64Array(names.length);
  let count = 0;
  for (const name of names) {
    const code = codeOf(name);
    if (code === NOT_OURS) continue;
    codes[count] = code;
    count += 1;
  }
  return codes.slice(0, count).sort();
}

/** The signs are looked at one by one: a regular expression costs several times as much. */
function codeOf(name: string): number {
  const looksOurs = name.length === NAME_LENGTH && name.startsWith("-jid", PRIORITY_DIGITS);
  if (!looksOurs) return NOT_OURS;
  const priority = digits(name, 0, PRIORITY_DIGITS);
  const number = digits(name, DIGITS_AT, NAME_LENGTH);
  return priority < 0 || number < 0 ? NOT_OURS : priority * NUMBERS + number;
}

function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const sign = text.charCodeAt(i);
    if (sign < ZERO || sign > NINE) return NOT_OURS;
    value = 10 * value + sign - ZERO;
  }
  return value;
}
