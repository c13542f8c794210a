/** What Merritt's storage service tells of an object: its versions, and the files of each. */
import { type Parsed, parsed, refused } from "./problem.ts";
import { readXml, type XmlElement } from "./xml.ts";

export interface ObjectInfo {
  readonly ark: string;
  readonly versions: ReadonlyMap<number, ObjectInfoVersion>;
}

export interface ObjectInfoVersion {
  /** RFC 3339; empty if it is not said. */
  readonly created: string;
  /** By logical path. */
  readonly files: ReadonlyMap<string, ObjectInfoFile>;
}

export interface ObjectInfoFile {
  /** As it is written there: `SHA-256`. */
  readonly digestType: string;
  /** Lower case. */
  readonly digest: string;
  readonly size: number;
  readonly mimeType: string;
  /** The version that brought the content; undefined if it is not said. */
  readonly contentOf: number | undefined;
}

const FILE = "objectInfo/versions/version/manifest/file";

export function parseObjectInfo(text: string): Parsed<ObjectInfo> {
  const xml = readXml(text);
  if (!xml.ok) return xml;
  if (xml.value.at(-1)?.path !== "objectInfo") {
    return refused({ code: "XML_MALFORMED", message: "the document is no objectInfo" });
  }
  return parsed(collect(xml.value));
}

/** Elements come when they end: what stands in a file before the file, its files before a version. */
function collect(elements: readonly XmlElement[]): ObjectInfo {
  const versions = new Map<number, ObjectInfoVersion>();
  let [ark, created] = ["", ""];
  let files = new Map<string, ObjectInfoFile>();
  let facts: Record<string, string> = {};
  for (const { path, name, attributes, text } of elements) {
    if (path === "objectInfo/object") ark = attributes["id"] ?? "";
    else if (path.startsWith(`${FILE}/`)) facts[name] = text;
    else if (path === FILE) {
      files.set(attributes["id"] ?? "", fileOf(facts));
      facts = {};
    } else if (path === "objectInfo/versions/version/manifest") created = attributes["created"] ?? "";
    else if (path === "objectInfo/versions/version") {
      versions.set(Number(attributes["id"]), { created, files });
      files = new Map();
      created = "";
    }
  }
  return { ark, versions };
}

/** `key` is ARK|VERSION|PATH: where the content was first stored. */
function fileOf({ digestType = "", digest = "", size = "", mimeType = "", key = "" }: Record<string, string>) {
  const contentOf = /^[^|]*\|(\d+)\|/.exec(key)?.[1];
  return {
    digestType,
    digest: digest.toLowerCase(),
    size: Number(size),
    mimeType,
    contentOf: contentOf === undefined ? undefined : Number(contentOf),
  };
}
