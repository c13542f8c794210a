/** What Merritt's storage service tells of an object: its versions, and the files of each. */
import { readXml } from "@sluice/ingest-formats";

/** Version → logical path → SHA-256. */
export type ObjectInfo = ReadonlyMap<number, ReadonlyMap<string, string>>;

/** Null: not what it should be. Elements come when they end, so a file's digest comes before the file. */
export function parseObjectInfo(text: string, ark: string): ObjectInfo | null {
  const xml = readXml(text);
  if (!xml.ok || xml.value.at(-1)?.path !== "objectInfo") return null;
  const versions = new Map<number, ReadonlyMap<string, string>>();
  let files = new Map<string, string>();
  let digest = "";
  for (const { path, attributes, text: value } of xml.value) {
    const { id = "" } = attributes;
    if (path === "objectInfo/object" && id !== ark) return null;
    if (path === "objectInfo/versions/version/manifest/file/digest") digest = value.toLowerCase();
    if (path === "objectInfo/versions/version/manifest/file") files.set(id, digest);
    if (path !== "objectInfo/versions/version") continue;
    versions.set(Number(id), files);
    files = new Map();
  }
  return versions;
}
