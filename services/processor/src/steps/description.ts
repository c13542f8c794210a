/** Who, what, when and under which names: from every source that says something, in order of precedence. */
import { describeProblem, type Erc, mergeLocalIds, parseErc } from "@sluice/ingest-formats";
import type { Job } from "@sluice/queue-core";
import type { Log } from "@sluice/stage-runtime";
import type { ClaimFolder } from "@sluice/working-folder";

export interface Description {
  readonly who?: string;
  readonly what?: string;
  readonly when?: string;
  readonly primaryId?: string;
  readonly localIds: readonly string[];
}

/** Looks at one place; an empty answer says nothing. DataCite and Dublin Core of the producer will be two more. */
type Source = (job: Job, kept: ClaimFolder, log: Log) => Promise<Description>;

/** What stands first wins. */
const SOURCES: readonly Source[] = [producerErc, submitted];

/** No value is longer: Merritt shows no more, and a znode must stay small. */
const VALUE_MAX = 3_500;

export async function describe(job: Job, kept: ClaimFolder, log: Log): Promise<Description> {
  const found = await Promise.all(SOURCES.map((source) => source(job, kept, log)));
  return mergeDescriptions(found);
}

/** Local ids add up, those of the submission before those of the files. */
export function mergeDescriptions(byPrecedence: readonly Description[]): Description {
  const merged = byPrecedence.toReversed().reduce<Description>((sum, next) => ({ ...sum, ...next }), { localIds: [] });
  const localIds = mergeLocalIds(...byPrecedence.toReversed().map((description) => description.localIds));
  return { ...merged, localIds };
}

async function producerErc(_job: Job, kept: ClaimFolder, log: Log): Promise<Description> {
  const file = await kept.producer.read("mrt-erc.txt");
  if (!file.ok) return { localIds: [] };
  const erc = parseErc(file.value.toString("utf8"));
  if (erc.ok) return ofErc(erc.value);
  log.warn({ problems: erc.problems.map(describeProblem) }, "mrt-erc.txt cannot be read and is stored as it is");
  return { localIds: [] };
}

const ofErc = ({ who, what, when, primaryId, localIds }: Erc): Description =>
  describes({ who, what, when, primaryId }, localIds);

function submitted({ metadata, identifiers }: Job): Promise<Description> {
  const values = {
    who: metadata?.erc_who,
    what: metadata?.erc_what,
    when: metadata?.erc_when,
    primaryId: identifiers?.primary_id ?? undefined,
  };
  return Promise.resolve(describes(values, identifiers?.local_id ?? []));
}

/** Empty values say nothing. */
function describes(
  values: Readonly<Record<"who" | "what" | "when" | "primaryId", string | undefined>>,
  localIds: readonly string[],
): Description {
  const given = Object.entries(values).flatMap(([key, value]) => {
    const text = value?.trim().slice(0, VALUE_MAX) ?? "";
    return text === "" ? [] : [[key, text]];
  });
  return { ...(Object.fromEntries(given) as Omit<Description, "localIds">), localIds };
}
