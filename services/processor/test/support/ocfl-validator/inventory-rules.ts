/** Rules that one inventory must keep by itself, whatever lies on the disk. */
import { type Findings, isObject, isPathList } from "./finding.ts";

export interface ReadInventory {
  readonly id: string;
  readonly type: string;
  readonly digestAlgorithm: string;
  readonly head: string;
  readonly contentDirectory: string;
  readonly manifest: Record<string, string[]>;
  readonly versions: Record<
    string,
    { created: string; state: Record<string, string[]>; message?: string; user?: unknown }
  >;
  readonly fixity: Record<string, Record<string, string[]>>;
}

const KEYS = ["id", "type", "digestAlgorithm", "head", "contentDirectory", "manifest", "versions", "fixity"];
const FIXITY_ALGORITHMS = ["md5", "sha1", "sha256", "sha512", "blake2b-512"];
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Null when it is too broken to be looked at any further. */
export function checkInventory(raw: unknown, where: string, findings: Findings): ReadInventory | null {
  if (!isObject(raw)) {
    findings.add("E033", `${where} is no JSON object`);
    return null;
  }
  for (const key of Object.keys(raw)) findings.unless(KEYS.includes(key), "E102", `${where} has the key ${key}`);
  const whole = checkHead(raw, where, findings);
  const manifest = checkPaths(raw["manifest"], `${where} manifest`, { notObject: "E106", notList: "E092" }, findings);
  const versions = checkVersions(raw, where, findings);
  if (!whole || manifest === null || versions === null) return null;
  const inventory = { contentDirectory: "content", fixity: {}, ...raw, manifest, versions } as unknown as ReadInventory;
  checkContentPaths(inventory, where, findings);
  checkFixityBlock(raw["fixity"], where, findings);
  return inventory;
}

function checkHead(raw: Record<string, unknown>, where: string, findings: Findings): boolean {
  const required = ["id", "type", "digestAlgorithm", "head"];
  for (const key of required) findings.unless(typeof raw[key] === "string", "E036", `${where} has no ${key}`);
  findings.unless(raw["id"] !== "", "E037", `${where} has an empty id`);
  findings.unless(
    raw["type"] === "https://ocfl.io/1.1/spec/#inventory",
    "E038",
    `${where} type ${String(raw["type"])}`,
  );
  const algorithm = raw["digestAlgorithm"];
  findings.unless(algorithm === "sha512" || algorithm === "sha256", "E025", `${where} digests by ${String(algorithm)}`);
  if (algorithm === "sha256") findings.add("W004", `${where} uses sha256`);
  const content = raw["contentDirectory"];
  findings.unless(
    !(typeof content === "string" && content.includes("/")),
    "E017",
    `${where} content ${String(content)}`,
  );
  findings.unless(content !== "." && content !== "..", "E018", `${where} content ${String(content)}`);
  for (const key of ["manifest", "versions"])
    findings.unless(key in raw, key === "versions" ? "E043" : "E041", `${where} has no ${key}`);
  return required.every((key) => typeof raw[key] === "string");
}

function checkPaths(
  block: unknown,
  where: string,
  codes: { notObject: string; notList: string },
  findings: Findings,
): Record<string, string[]> | null {
  if (!isObject(block)) {
    findings.add(codes.notObject, `${where} is no object`);
    return null;
  }
  for (const [digest, paths] of Object.entries(block)) {
    if (!isPathList(paths)) {
      findings.add(codes.notList, `${where} ${digest} has no list of paths`);
      return null;
    }
  }
  return block as Record<string, string[]>;
}

function checkOncePerDigest(block: Record<string, unknown>, code: string, where: string, findings: Findings): void {
  const digests = Object.keys(block).map((digest) => digest.toLowerCase());
  findings.unless(new Set(digests).size === digests.length, code, `${where} has a digest twice`);
}

function checkContentPaths(inventory: ReadInventory, where: string, findings: Findings): void {
  checkOncePerDigest(inventory.manifest, "E096", `${where} manifest`, findings);
  const paths = Object.values(inventory.manifest).flat();
  const used = new Set(Object.values(inventory.versions).flatMap(({ state }) => Object.keys(state)));
  for (const digest of Object.keys(inventory.manifest)) {
    findings.unless(used.has(digest), "E107", `${where}: no version uses ${digest}`);
  }
  for (const path of paths) {
    findings.unless(!/^\/|\/$/.test(path), "E100", `${where}: ${path}`);
    findings.unless(harmless(path), "E099", `${where}: ${path}`);
    const [version = "", content] = path.split("/");
    const known = version in inventory.versions && content === inventory.contentDirectory;
    findings.unless(known, "E042", `${where}: ${path} is in no version's content`);
  }
  checkUnique(paths, "E101", where, findings);
}

const harmless = (path: string): boolean =>
  path
    .replace(/^\/|\/$/g, "")
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== "..");

function checkUnique(paths: readonly string[], code: string, where: string, findings: Findings): void {
  const all = new Set(paths);
  findings.unless(all.size === paths.length, code, `${where} has a path twice`);
  for (const path of paths) {
    const parts = path.split("/");
    parts.slice(1).forEach((_, index) => {
      const folder = parts.slice(0, index + 1).join("/");
      findings.unless(!all.has(folder), code, `${where}: ${folder} is file and folder`);
    });
  }
}

function checkVersions(
  raw: Record<string, unknown>,
  where: string,
  findings: Findings,
): ReadInventory["versions"] | null {
  const versions = raw["versions"];
  if (!isObject(versions)) {
    findings.add("E044", `${where} versions is no object`);
    return null;
  }
  checkSequence(Object.keys(versions), String(raw["head"]), where, findings);
  const manifest = isObject(raw["manifest"]) ? raw["manifest"] : {};
  const whole = Object.entries(versions).map(([name, version]) =>
    checkVersion(version, `${where} ${name}`, manifest, findings),
  );
  return whole.every((good) => good) ? (versions as ReadInventory["versions"]) : null;
}

function checkSequence(names: readonly string[], head: string, where: string, findings: Findings): void {
  findings.unless(names.length > 0, "E008", `${where} has no version`);
  for (const name of names) findings.unless(/^v\d+$/.test(name), "E104", `${where}: ${name} is no version`);
  for (const name of names) if (name.startsWith("v0")) findings.add("W001", `${where}: ${name} is padded`);
  const numbers = names.map((name) => Number(name.slice(1))).sort((a, b) => a - b);
  findings.unless(numbers[0] === 1, "E009", `${where} does not begin with version 1`);
  findings.unless(
    numbers.every((number, index) => number === index + 1),
    "E010",
    `${where} lacks a version`,
  );
  const highest = names.toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1))).at(-1);
  findings.unless(head === highest, "E040", `${where} head ${head}, highest ${String(highest)}`);
}

function checkVersion(version: unknown, where: string, manifest: Record<string, unknown>, findings: Findings): boolean {
  if (!isObject(version)) {
    findings.add("E047", `${where} is no object`);
    return false;
  }
  const { created, state, message, user } = version;
  findings.unless(created !== undefined && state !== undefined, "E048", `${where} lacks created or state`);
  findings.unless(typeof created === "string" && RFC3339.test(created), "E049", `${where} created ${String(created)}`);
  findings.unless(message === undefined || typeof message === "string", "E094", `${where} message`);
  findings.unless(user === undefined || (isObject(user) && typeof user["name"] === "string"), "E054", `${where} user`);
  if (message === undefined || user === undefined) findings.add("W007", `${where} has no message or user`);
  const logical = checkPaths(state, `${where} state`, { notObject: "E050", notList: "E051" }, findings);
  if (logical === null) return false;
  for (const digest of Object.keys(logical))
    findings.unless(digest in manifest, "E050", `${where}: ${digest} is unknown`);
  const paths = Object.values(logical).flat();
  for (const path of paths) {
    findings.unless(!/^\/|\/$/.test(path), "E053", `${where}: ${path}`);
    findings.unless(harmless(path), "E052", `${where}: ${path}`);
  }
  checkUnique(paths, "E095", where, findings);
  return true;
}

function checkFixityBlock(fixity: unknown, where: string, findings: Findings): void {
  if (fixity === undefined) return;
  if (!isObject(fixity)) {
    findings.add("E111", `${where} fixity is no object`);
    return;
  }
  for (const [algorithm, block] of Object.entries(fixity)) {
    findings.unless(FIXITY_ALGORITHMS.includes(algorithm), "E056", `${where} fixity by ${algorithm}`);
    const paths = checkPaths(block, `${where} fixity ${algorithm}`, { notObject: "E057", notList: "E057" }, findings);
    if (paths !== null) checkOncePerDigest(paths, "E097", `${where} fixity ${algorithm}`, findings);
  }
}
