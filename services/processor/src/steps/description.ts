/** Who, what, when and under which names: from every source that says something, in order of precedence. Pure. */
import {
  describeProblem,
  type DublinCore,
  DUBLIN_CORE_ELEMENTS,
  mergeDublinCore,
  mergeLocalIds,
  type Parsed,
  parseDataCite,
  parseDublinCore,
  parseErc,
  parseLocalIds,
  type Profile,
} from "@sluice/ingest-formats";
import type { Job } from "@sluice/queue-core";
import { sourceOfBefore } from "./identity-source.ts";
import type { ReservedFiles, ReservedName } from "./reserved-files.ts";

export interface Description {
  readonly who?: string;
  readonly what?: string;
  readonly when?: string;
  /** The depositor's; one that we found or minted stands in the job's identifiers. */
  readonly primaryId?: string;
  readonly localIds: readonly string[];
  /** What goes into system/mrt-dc.xml besides. */
  readonly dublinCore: DublinCore;
}

type Texts = Partial<Record<"who" | "what" | "when" | "primaryId", string | undefined>>;

export interface DescriptionFacts {
  readonly job: Job;
  readonly profile: Profile;
  readonly files: ReservedFiles;
  /** A file of the producer's that cannot be read is stored as it is, and says nothing. */
  readonly warn: (name: ReservedName, problems: readonly string[]) => void;
}

/** No value is longer: Merritt shows no more, and a znode must stay small. */
const VALUE_MAX = 3_500;

export function describe(facts: DescriptionFacts): Description {
  const { job, profile } = facts;
  const erc = readWith(facts, "mrt-erc.txt", parseErc);
  const dataCite = readWith(facts, "mrt-datacite.xml", parseDataCite);
  const dublinCore = readWith(facts, "mrt-dc.xml", parseDublinCore) ?? {};
  // What stands first wins. Dublin Core fills gaps only.
  const texts = firstOf([erc ?? {}, dataCite ?? {}, submitted(job), ofDublinCore(dublinCore)]);
  const localIds = mergeLocalIds(
    submittedLocalIds(job),
    profile.suppressDublinCoreLocalId ? [] : parseLocalIds(dublinCore.identifier ?? ""),
    erc?.localIds ?? [],
  );
  const description = { ...texts, localIds, dublinCore: mergeDublinCore(dublinCore, submittedDublinCore(job)) };
  return profile.demo ? withoutPrimaryId(description) : description;
}

function readWith<T>({ files, warn }: DescriptionFacts, name: ReservedName, parse: (text: string) => Parsed<T>) {
  const text = files.get(name);
  if (text === undefined) return undefined;
  const result = parse(text);
  if (result.ok) return result.value;
  warn(name, result.problems.map(describeProblem));
  return undefined;
}

const ofDublinCore = ({ creator, title, date }: DublinCore): Texts => ({ who: creator, what: title, when: date });

/** Rows of a batch manifest went before the form when the job was made. */
function submitted({ metadata, identifiers }: Job): Texts {
  const ours = sourceOfBefore(identifiers) !== null;
  return {
    who: metadata?.erc_who,
    what: metadata?.erc_what,
    when: metadata?.erc_when,
    primaryId: ours ? undefined : (identifiers?.primary_id ?? undefined),
  };
}

const submittedLocalIds = ({ identifiers }: Job): string[] => (identifiers?.local_id ?? []).flatMap(parseLocalIds);

/** `DCtitle` and the other fourteen, as the form's fields are kept. */
function submittedDublinCore({ configuration }: Job): DublinCore {
  const given = DUBLIN_CORE_ELEMENTS.flatMap((element) => {
    const value = configuration[`DC${element}`];
    return typeof value === "string" && value.trim() !== "" ? [[element, value.trim()]] : [];
  });
  return Object.fromEntries(given) as DublinCore;
}

/** Empty values say nothing. */
function firstOf(byPrecedence: readonly Texts[]): Omit<Description, "localIds" | "dublinCore"> {
  const keys = ["who", "what", "when", "primaryId"] as const;
  const found = keys.flatMap((key) => {
    const value = byPrecedence.map((texts) => shortened(texts[key])).find((text) => text !== "");
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(found) as Omit<Description, "localIds" | "dublinCore">;
}

/** A pair of surrogates is not cut in two. */
const shortened = (text = ""): string =>
  text
    .trim()
    .slice(0, VALUE_MAX)
    .replace(/[\uD800-\uDBFF]$/, "");

/** In demonstrations nobody writes to an object by its ARK: the name stays, as one of the depositor's own. */
function withoutPrimaryId({ primaryId, ...rest }: Description): Description {
  return primaryId === undefined ? rest : { ...rest, localIds: mergeLocalIds(rest.localIds, [primaryId]) };
}
