/** Rules of an object on disk. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Findings, type Finding } from "./finding.ts";
import { checkInventory, type ReadInventory } from "./inventory-rules.ts";
import { digestOf, entriesOf, filesBelow, parseJsonFile } from "./tree.ts";

const DECLARATION = "0=ocfl_object_1.1";

export function validateObject(root: string): Finding[] {
  const findings = new Findings();
  checkDeclaration(root, findings);
  const inventory = readInventory(root, "root inventory", findings, "E063");
  if (inventory === null) return findings.list;
  checkRootEntries(root, inventory, findings);
  for (const version of Object.keys(inventory.versions)) checkVersionFolder(root, version, inventory, findings);
  checkContent(root, inventory, findings);
  return findings.list;
}

/** The id that an object's inventory gives; null if there is none. */
export function idOfObject(root: string): string | null {
  const inventory = parseJsonFile(join(root, "inventory.json")) as { id?: string } | undefined;
  return inventory?.id ?? null;
}

function checkDeclaration(root: string, findings: Findings): void {
  const declarations = entriesOf(root, findings).filter(({ name }) => name.startsWith("0="));
  findings.unless(declarations.length === 1, "E003", `${root} has ${declarations.length} declarations`);
  for (const { name, path } of declarations) {
    findings.unless(name === DECLARATION, "E006", path);
    findings.unless(readFileSync(path, "utf8") === `${name.slice(2)}\n`, "E007", path);
  }
}

function readInventory(folder: string, where: string, findings: Findings, missing: string): ReadInventory | null {
  const path = join(folder, "inventory.json");
  if (!existsSync(path)) {
    findings.add(missing, `${path} is missing`);
    return null;
  }
  const inventory = checkInventory(parseJsonFile(path), where, findings);
  if (inventory !== null) checkSidecar(folder, inventory, findings);
  return inventory;
}

function checkSidecar(folder: string, { digestAlgorithm }: ReadInventory, findings: Findings): void {
  const path = join(folder, `inventory.json.${digestAlgorithm}`);
  if (!existsSync(path)) {
    findings.add("E058", `${path} is missing`);
    return;
  }
  const said = /^(\S+)[ \t]+inventory\.json\n?$/.exec(readFileSync(path, "utf8"))?.[1];
  findings.unless(said !== undefined, "E061", path);
  const is = digestOf(digestAlgorithm, join(folder, "inventory.json"));
  findings.unless(said === undefined || said.toLowerCase() === is, "E060", path);
}

function checkRootEntries(root: string, inventory: ReadInventory, findings: Findings): void {
  const files = [DECLARATION, "inventory.json", `inventory.json.${inventory.digestAlgorithm}`];
  for (const { name, kind, path } of entriesOf(root, findings)) {
    if (kind === "file") findings.unless(files.includes(name), "E001", path);
    else if (/^v\d+$/.test(name)) findings.unless(name in inventory.versions, "E046", `${path} is in no inventory`);
    else findings.unless(name === "logs" || name === "extensions", "E001", path);
  }
}

function checkVersionFolder(root: string, version: string, head: ReadInventory, findings: Findings): void {
  const folder = join(root, version);
  if (!existsSync(folder)) {
    findings.add("E046", `${folder} is missing`);
    return;
  }
  for (const { name, kind, path } of entriesOf(folder, findings)) {
    if (kind === "folder") {
      if (name !== head.contentDirectory) findings.add("W002", path);
    } else findings.unless(/^inventory\.json(\.sha512|\.sha256)?$/.test(name), "E015", path);
  }
  const own = readInventory(folder, `${version} inventory`, findings, "W010");
  if (own !== null) compareWithHead(own, version, head, findings);
  if (version === head.head) checkSameBytes(root, folder, findings);
}

function compareWithHead(own: ReadInventory, version: string, head: ReadInventory, findings: Findings): void {
  findings.unless(own.id === head.id, "E110", `${version} has the id ${own.id}`);
  findings.unless(own.head === version, "E040", `${version} has the head ${own.head}`);
  findings.unless(own.contentDirectory === head.contentDirectory, "E020", version);
  for (const [name, block] of Object.entries(own.versions)) {
    const now = head.versions[name];
    const same = now !== undefined && stateText(own, block.state) === stateText(head, now.state);
    findings.unless(same, "E066", `${version} tells another ${name}`);
    const told = JSON.stringify([block.created, block.message, block.user]);
    if (told !== JSON.stringify([now?.created, now?.message, now?.user])) findings.add("W011", `${version} ${name}`);
  }
}

const stateText = (inventory: ReadInventory, state: Record<string, string[]>): string =>
  JSON.stringify(
    Object.entries(state)
      .flatMap(([digest, paths]) => paths.map((path) => [path, inventory.manifest[digest]?.toSorted()]))
      .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)),
  );

function checkSameBytes(root: string, folder: string, findings: Findings): void {
  const newest = join(folder, "inventory.json");
  if (!existsSync(newest)) return;
  const same = readFileSync(newest).equals(readFileSync(join(root, "inventory.json")));
  findings.unless(same, "E064", `${newest} is not the root inventory`);
}

function checkContent(root: string, inventory: ReadInventory, findings: Findings): void {
  const listed = new Map(
    Object.entries(inventory.manifest).flatMap(([digest, paths]) => paths.map((path) => [path, digest] as const)),
  );
  for (const version of Object.keys(inventory.versions)) {
    const content = join(root, version, inventory.contentDirectory);
    if (!existsSync(content)) continue;
    for (const file of filesBelow(content, findings, "E024")) {
      const path = `${version}/${inventory.contentDirectory}/${file}`;
      findings.unless(listed.has(path), "E023", `${path} is not in the manifest`);
    }
  }
  for (const [path, digest] of listed) checkDigest(root, path, inventory.digestAlgorithm, digest, "E092", findings);
  for (const [algorithm, block] of Object.entries(inventory.fixity)) {
    for (const [digest, paths] of Object.entries(block)) {
      for (const path of paths) checkDigest(root, path, algorithm, digest, "E093", findings);
    }
  }
}

function checkDigest(
  root: string,
  path: string,
  algorithm: string,
  digest: string,
  code: string,
  findings: Findings,
): void {
  const file = join(root, path);
  if (!existsSync(file)) findings.add(code, `${path} is missing`);
  else findings.unless(digestOf(algorithm, file) === digest.toLowerCase(), code, `${path} has another ${algorithm}`);
}
