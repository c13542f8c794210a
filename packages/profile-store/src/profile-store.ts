import { describeProblem, parseProfile, type Profile } from "@sluice/ingest-formats";
import { watchFolder } from "./folder-watch.ts";
import { listProfileFiles, type ProfileFile, readProfileFile } from "./profile-folder.ts";
import { isProfileName } from "./profile-name.ts";

export type ProfileLookup =
  { readonly ok: true; readonly profile: Profile } | { readonly ok: false; readonly problem: string };

export interface ProfileProblem {
  /** The profile it is about; null when it is about the folder. */
  readonly name: string | null;
  readonly message: string;
  /** `broken`: this version is not used. `warning`: it is, but something in it is probably a slip. */
  readonly severity: "broken" | "warning";
}

export interface ProfileStoreOptions {
  /** Told once per version of a file, not at every look. */
  readonly onProblem?: (problem: ProfileProblem) => void;
  /** Told after a look at the folder that changed what `get` or `names` answer. */
  readonly onChange?: () => void;
  /** A change that no file system event announced is seen after this time. */
  readonly pollMs?: number;
}

/** The profiles of a folder, always the newest valid version of each. */
export interface ProfileStore {
  readonly get: (name: string) => ProfileLookup;
  /** Of the profiles that can be had, sorted. */
  readonly names: () => readonly string[];
  /** Looks at the folder now; returns when what it found is in use. */
  readonly refresh: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Entry {
  readonly version: string;
  /** The last version that could be read; null if there was none. */
  readonly profile: Profile | null;
  readonly problem: string | null;
}

const DEFAULT_POLL_MS = 5_000;

/** Never fails: a folder that is missing or broken is reported, and used as soon as it is mended. */
export async function openProfiles(folder: string, options: ProfileStoreOptions = {}): Promise<ProfileStore> {
  const shelf = new ProfileShelf(folder, options);
  await shelf.refresh();
  const stopWatching = watchFolder(
    folder,
    options.pollMs ?? DEFAULT_POLL_MS,
    () => void shelf.refresh().catch(() => undefined),
  );
  return {
    get: (name) => shelf.get(name),
    names: () => shelf.names(),
    refresh: () => shelf.refresh(),
    close: async () => {
      stopWatching();
      await shelf.settled();
    },
  };
}

class ProfileShelf {
  readonly #folder: string;
  readonly #options: ProfileStoreOptions;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #folderProblem: string | null = null;
  #duplicates = "";
  #looking: Promise<void> = Promise.resolve();

  constructor(folder: string, options: ProfileStoreOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  get(name: string): ProfileLookup {
    if (!isProfileName(name))
      return { ok: false, problem: "no profile name: letters, digits, _ . -, at most 100, ending with _content" };
    const entry = this.#entries.get(name);
    if (entry?.profile) return { ok: true, profile: entry.profile };
    if (entry?.problem) return { ok: false, problem: `profile ${name} ${entry.problem}` };
    return { ok: false, problem: this.#folderProblem ?? `there is no profile ${name}` };
  }

  names(): readonly string[] {
    return [...this.#entries].flatMap(([name, entry]) => (entry.profile === null ? [] : [name])).sort();
  }

  settled(): Promise<void> {
    return this.#looking;
  }

  /** One look at a time, in order: an older look must not overwrite what a younger one found. */
  refresh(): Promise<void> {
    this.#looking = this.#looking.catch(() => undefined).then(() => this.#look());
    return this.#looking;
  }

  async #look(): Promise<void> {
    const listing = await listProfileFiles(this.#folder).catch((error: unknown) => describe(error));
    if (typeof listing === "string") {
      this.#reportFolder(`the profile folder ${this.#folder} cannot be read: ${listing}`);
      return; // What is known stays in use: a volume that is away for a moment must stop no deposit.
    }
    this.#reportFolder(null);
    this.#reportDuplicates(listing.duplicates);
    await this.#take(listing.files);
  }

  async #take(files: readonly ProfileFile[]): Promise<void> {
    const before = this.#entries;
    const after = new Map<string, Entry>();
    for (const file of files) {
      const known = before.get(file.name);
      after.set(file.name, known?.version === file.version ? known : await this.#read(file, known));
    }
    this.#entries = after;
    const changed = after.size !== before.size || [...after].some(([name, entry]) => before.get(name) !== entry);
    if (changed) this.#options.onChange?.();
  }

  async #read(file: ProfileFile, known: Entry | undefined): Promise<Entry> {
    const { name, version } = file;
    const read = await readProfileFile(file);
    const parsed = read.ok ? parseProfile(read.text, name) : null;
    if (parsed?.ok) {
      for (const warning of parsed.warnings) this.#report(name, describeProblem(warning), "warning");
      return { version, profile: parsed.profile, problem: null };
    }
    const problem = read.ok ? `is not valid: ${parsed?.problems.map(describeProblem).join("; ") ?? ""}` : read.problem;
    const profile = known?.profile ?? null;
    this.#report(name, profile === null ? problem : `${problem}; the version before it stays in use`, "broken");
    return { version, profile, problem };
  }

  #report(name: string | null, message: string, severity: ProfileProblem["severity"]): void {
    this.#options.onProblem?.({ name, message, severity });
  }

  #reportFolder(problem: string | null): void {
    if (problem !== null && problem !== this.#folderProblem) this.#report(null, problem, "broken");
    this.#folderProblem = problem;
  }

  #reportDuplicates(duplicates: readonly ProfileFile[]): void {
    const seen = duplicates.map((file) => file.fileName).join();
    if (seen === this.#duplicates) return;
    this.#duplicates = seen;
    for (const file of duplicates)
      this.#report(file.name, `${file.fileName} is passed over: another file has this profile`, "warning");
  }
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
