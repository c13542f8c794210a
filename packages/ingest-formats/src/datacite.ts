import { isUnassigned } from "./erc.ts";
import { type Parsed, parsed, refused } from "./problem.ts";
import { readXml, type XmlElement } from "./xml.ts";

/** What a DataCite record (mrt-datacite.xml) says of who, what and when. */
export interface DataCite {
  readonly who?: string;
  readonly what?: string;
  readonly when?: string;
}

/** Any version of the kernel: creators joined by `; `, the title that is not a translation or subtitle, the year. */
export function parseDataCite(text: string): Parsed<DataCite> {
  const xml = readXml(text);
  if (!xml.ok) return xml;
  const elements = xml.value.filter(({ text: value }) => !isUnassigned(value));
  if (xml.value.at(-1)?.path !== "resource") {
    return refused({
      code: "DATACITE_ROOT_MISSING",
      message: "the root is no DataCite resource",
      expected: "resource",
    });
  }
  const creators = textsAt(elements, "resource/creators/creator/creatorName");
  const titles = elements.filter(({ path }) => path === "resource/titles/title");
  const what = (titles.find(({ attributes }) => attributes["titleType"] === undefined) ?? titles[0])?.text;
  const [when] = textsAt(elements, "resource/publicationYear");
  return parsed({
    ...(creators.length === 0 ? {} : { who: creators.join("; ") }),
    ...(what === undefined ? {} : { what }),
    ...(when === undefined ? {} : { when }),
  });
}

const textsAt = (elements: readonly XmlElement[], path: string): string[] =>
  elements.filter((element) => element.path === path).map(({ text }) => text);
