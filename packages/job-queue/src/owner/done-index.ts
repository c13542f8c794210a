/**
 * The runs in the tree's archive, in the owner's memory: their names, the oldest first, and what those say that ended in
 * this term, so that they need not be read to leave the tree.
 */
import { DONE_PER_DIRECTORY } from "../limits.ts";
import { parseDoneName } from "../paths.ts";
import type { Done } from "../records.ts";

export interface DoneName {
  readonly directory: string;
  readonly id: number;
  readonly token: string;
}

export interface DoneEntry extends DoneName {
  /** Null: it must be read. */
  readonly done: Done | null;
  readonly bytes: number;
}

interface Directory {
  /** How many there are. */
  count: number;
  /** How many there were: one that was full is not begun anew. */
  made: number;
}

export const HOUR_MS = 3_600_000;
/** Of an entry that was not read. */
const BYTES_GUESSED = 1024;
const COMPACTED_BY = 1024;

/** "2026111613" or "2026111613-1": its hour, in ms. Null for what is no directory of ours. */
export function hourOf(directory: string): number | null {
  const [, year, month, day, hour] = /^(\d{4})(\d\d)(\d\d)(\d\d)(?:-\d+)?$/.exec(directory) ?? [];
  return year === undefined ? null : Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour));
}

export class DoneIndex {
  readonly #directories = new Map<string, Directory>();
  /** Nearly every job has one run: a list for each would be most of what the index takes. */
  readonly #byId = new Map<number, DoneEntry | DoneEntry[]>();
  #entries: DoneEntry[] = [];
  /** Those before it have left. */
  #first = 0;
  #bytes = 0;
  #hour = { began: NaN, name: "", part: 0 };

  /** As the tree has it. */
  load(listed: ReadonlyMap<string, readonly string[]>): void {
    const directories = [...listed.keys()].sort((a, b) => (hourOf(a) ?? 0) - (hourOf(b) ?? 0) || partOf(a) - partOf(b));
    for (const directory of directories) {
      const names = (listed.get(directory) ?? []).flatMap((name) => parseDoneName(name) ?? []);
      this.#directories.set(directory, { count: 0, made: 0 });
      for (const name of names.sort((a, b) => laterFirst(b, a)))
        this.#note({ directory, ...name, done: null, bytes: BYTES_GUESSED });
    }
  }

  /** Where the entry of a run that ends now goes; a directory that is full is followed by another. */
  place(ended: number): { readonly directory: string; readonly isNew: boolean } {
    this.#turnTo(ended);
    for (; ; this.#hour.part++) {
      const { name, part } = this.#hour;
      const directory = part === 0 ? name : `${name}-${part}`;
      const known = this.#directories.get(directory);
      if (known === undefined || known.made < DONE_PER_DIRECTORY) return { directory, isNew: known === undefined };
    }
  }

  add(entry: DoneEntry): void {
    this.#note(entry);
  }

  get size(): number {
    return this.#entries.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The oldest first. */
  *all(): Iterable<DoneEntry> {
    for (let n = this.#first; n < this.#entries.length; n++) {
      const entry = this.#entries[n];
      if (entry !== undefined) yield entry;
    }
  }

  *tokens(): Iterable<readonly [string, number]> {
    for (const { token, id } of this.all()) yield [token, id];
  }

  of(id: number): readonly DoneEntry[] {
    const known = this.#byId.get(id) ?? [];
    return Array.isArray(known) ? known : [known];
  }

  /** So many of the oldest, or fewer that have so many bytes, and one at least. */
  oldest(most: number, bytesMost: number): readonly DoneEntry[] {
    const found: DoneEntry[] = [];
    let bytes = 0;
    for (const entry of this.all()) {
      bytes += entry.bytes;
      if (found.length === most || (found.length > 0 && bytes > bytesMost)) break;
      found.push(entry);
    }
    return found;
  }

  /** These are the oldest, and are kept elsewhere. Their nodes are still there. */
  drop(entries: readonly DoneEntry[]): void {
    for (const entry of entries) {
      this.#first += 1;
      this.#bytes -= entry.bytes;
      this.#forget(entry);
    }
    if (this.#first <= COMPACTED_BY || this.#first <= this.size) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }

  /** They are nobody's any more, wherever they stand. */
  remove(entries: readonly DoneEntry[]): void {
    const gone = new Set(entries);
    this.#entries = [...this.all()].filter((entry) => !gone.has(entry));
    this.#first = 0;
    for (const entry of gone) {
      this.#bytes -= entry.bytes;
      this.#forget(entry);
    }
  }

  /** Their nodes are about to go. Answers which directories are empty then, and go with them. */
  empty(entries: readonly DoneEntry[]): readonly string[] {
    const emptied: string[] = [];
    for (const entry of entries) {
      const directory = this.#directories.get(entry.directory);
      if (directory === undefined) continue;
      directory.count -= 1;
      if (directory.count > 0) continue;
      this.#directories.delete(entry.directory);
      emptied.push(entry.directory);
    }
    return emptied;
  }

  #note(entry: DoneEntry): void {
    const directory = this.#directories.get(entry.directory);
    if (directory === undefined) this.#directories.set(entry.directory, { count: 1, made: 1 });
    else {
      directory.count += 1;
      directory.made += 1;
    }
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
    const known = this.#byId.get(entry.id);
    if (known === undefined) this.#byId.set(entry.id, entry);
    else if (Array.isArray(known)) known.push(entry);
    else this.#byId.set(entry.id, [known, entry]);
  }

  #forget(entry: DoneEntry): void {
    const left = this.of(entry.id).filter((each) => each !== entry);
    const [only] = left;
    if (only === undefined) this.#byId.delete(entry.id);
    else this.#byId.set(entry.id, left.length === 1 ? only : left);
  }

  /** One text for all entries of an hour, not one for each. */
  #turnTo(ended: number): void {
    const began = Math.floor(ended / HOUR_MS);
    if (began === this.#hour.began) return;
    const name = new Date(ended).toISOString().slice(0, 13).replaceAll(/[-T]/g, "");
    const parts = [...this.#directories.keys()].filter((each) => each.split("-")[0] === name).map(partOf);
    this.#hour = { began, name, part: parts.reduce((most, part) => Math.max(most, part), 0) };
  }
}

const partOf = (directory: string): number => Number(directory.split("-")[1] ?? 0);

export function laterFirst(a: Pick<DoneName, "id" | "token">, b: Pick<DoneName, "id" | "token">): number {
  const [termA = 0, takenA = 0] = a.token.split(".").map(Number);
  const [termB = 0, takenB = 0] = b.token.split(".").map(Number);
  return termB - termA || takenB - takenA || b.id - a.id;
}
