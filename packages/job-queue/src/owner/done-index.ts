/** The names of all runs in the tree's archive, in the owner's memory: what they say is read when somebody asks. */
import { DONE_PER_DIRECTORY } from "../limits.ts";
import { parseDoneName } from "../paths.ts";

export interface DoneName {
  readonly directory: string;
  readonly id: number;
  readonly token: string;
}

const HOUR_MS = 3_600_000;

/** "2026111613" or "2026111613-1": its hour, in ms. Null for what is no directory of ours. */
export function hourOf(directory: string): number | null {
  const [, year, month, day, hour] = /^(\d{4})(\d\d)(\d\d)(\d\d)(?:-\d+)?$/.exec(directory) ?? [];
  return year === undefined ? null : Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour));
}

export class DoneIndex {
  readonly #directories = new Map<string, DoneName[]>();
  /** Nearly every job has one run: a list for each would be most of what the index takes. */
  readonly #byId = new Map<number, DoneName | DoneName[]>();
  #hour = { began: NaN, directory: "" };

  /** As the tree has it. */
  load(directory: string, names: readonly string[]): void {
    this.#directories.set(directory, []);
    for (const name of names) {
      const parsed = parseDoneName(name);
      if (parsed !== null) this.#note({ directory, ...parsed });
    }
  }

  /** Where the entry of a run that ends now goes; a directory that is full is followed by another. */
  add(ended: number, id: number, token: string): { readonly directory: string; readonly isNew: boolean } {
    const hour = this.#hourDirectory(ended);
    for (let n = 0; ; n++) {
      const directory = n === 0 ? hour : `${hour}-${n}`;
      const entries = this.#directories.get(directory);
      if (entries !== undefined && entries.length >= DONE_PER_DIRECTORY) continue;
      this.#note({ directory, id, token });
      return { directory, isNew: entries === undefined };
    }
  }

  *tokens(): Iterable<readonly [string, number]> {
    for (const entries of this.#directories.values()) for (const { token, id } of entries) yield [token, id];
  }

  of(id: number): readonly DoneName[] {
    const known = this.#byId.get(id) ?? [];
    return Array.isArray(known) ? known : [known];
  }

  /** Directories whose hour began before; nothing more is written there. */
  directoriesBefore(moment: number): readonly string[] {
    return [...this.#directories.keys()].filter((directory) => (hourOf(directory) ?? Infinity) <= moment);
  }

  /** Newest first. */
  directories(): readonly string[] {
    return [...this.#directories.keys()].sort((a, b) => (hourOf(b) ?? 0) - (hourOf(a) ?? 0) || partOf(b) - partOf(a));
  }

  /** The last to begin first. */
  entriesOf(directory: string): readonly DoneName[] {
    return [...(this.#directories.get(directory) ?? [])].sort(laterFirst);
  }

  forget(directory: string): void {
    for (const { id } of this.#directories.get(directory) ?? []) {
      const left = this.of(id).filter((name) => name.directory !== directory);
      if (left.length === 0) this.#byId.delete(id);
      else this.#byId.set(id, left);
    }
    this.#directories.delete(directory);
  }

  #note(name: DoneName): void {
    const entries = this.#directories.get(name.directory);
    if (entries === undefined) this.#directories.set(name.directory, [name]);
    else entries.push(name);
    const known = this.#byId.get(name.id);
    if (known === undefined) this.#byId.set(name.id, name);
    else if (Array.isArray(known)) known.push(name);
    else this.#byId.set(name.id, [known, name]);
  }

  /** One text for all entries of an hour, not one for each. */
  #hourDirectory(ended: number): string {
    const began = Math.floor(ended / HOUR_MS);
    if (began !== this.#hour.began)
      this.#hour = { began, directory: new Date(ended).toISOString().slice(0, 13).replaceAll(/[-T]/g, "") };
    return this.#hour.directory;
  }
}

const partOf = (directory: string): number => Number(directory.split("-")[1] ?? 0);

export function laterFirst(a: Pick<DoneName, "id" | "token">, b: Pick<DoneName, "id" | "token">): number {
  const [termA = 0, takenA = 0] = a.token.split(".").map(Number);
  const [termB = 0, takenB = 0] = b.token.split(".").map(Number);
  return termB - termA || takenB - takenA || b.id - a.id;
}
