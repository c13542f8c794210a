/** Rules of a storage root, and of every object in it. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Finding, Findings } from "./finding.ts";
import { idOfObject, validateObject } from "./object-rules.ts";
import { entriesOf, parseJsonFile } from "./tree.ts";

const DECLARATION = "0=ocfl_1.1";
const LAYOUT = "0004-hashed-n-tuple-storage-layout";

export interface RootReport {
  readonly errors: Finding[];
  readonly warnings: Finding[];
  /** By id: where each object lies. */
  readonly objects: ReadonlyMap<string, string>;
}

export function validateRoot(root: string): RootReport {
  const findings = new Findings();
  checkDeclaration(root, findings);
  checkLayout(root, findings);
  checkExtensions(root, findings);
  const objects = new Map<string, string>();
  for (const { name, path, kind } of entriesOf(root, findings)) {
    if (kind === "folder" && name !== "extensions") visit(root, path, objects, findings);
  }
  const isError = ({ code }: Finding): boolean => code.startsWith("E");
  return { errors: findings.list.filter(isError), warnings: findings.list.filter((each) => !isError(each)), objects };
}

function checkDeclaration(root: string, findings: Findings): void {
  const declarations = entriesOf(root, findings).filter(({ name }) => name.startsWith("0="));
  findings.unless(declarations.length > 0, "E069", `${root} has no declaration`);
  findings.unless(declarations.length < 2, "E076", `${root} has several declarations`);
  for (const { name, path } of declarations) {
    findings.unless(name === DECLARATION, "E079", path);
    findings.unless(readFileSync(path, "utf8") === `${name.slice(2)}\n`, "E080", path);
  }
}

function checkLayout(root: string, findings: Findings): void {
  const path = join(root, "ocfl_layout.json");
  if (!existsSync(path)) return;
  const layout = parseJsonFile(path) as { extension?: unknown; description?: unknown } | undefined;
  const whole = typeof layout?.extension === "string" && typeof layout.description === "string";
  findings.unless(whole, "E070", path);
  findings.unless(layout?.extension === LAYOUT, "E071", path);
}

function checkExtensions(root: string, findings: Findings): void {
  const folder = join(root, "extensions");
  if (!existsSync(folder)) return;
  for (const { path, kind } of entriesOf(folder, findings)) findings.unless(kind === "folder", "E112", path);
}

/** A folder is an object, or leads to objects; nothing else. */
function visit(root: string, folder: string, objects: Map<string, string>, findings: Findings): void {
  const entries = entriesOf(folder, findings);
  if (entries.length === 0) findings.add("E073", `${folder} is empty`);
  if (entries.some(({ name }) => name.startsWith("0=ocfl_object_"))) {
    for (const { code, what } of validateObject(folder)) findings.add(code, what);
    checkPlace(root, folder, objects, findings);
    return;
  }
  for (const { path, kind } of entries) {
    if (kind === "file") findings.add("E072", path);
    else visit(root, path, objects, findings);
  }
}

function checkPlace(root: string, folder: string, objects: Map<string, string>, findings: Findings): void {
  const id = idOfObject(folder);
  if (id === null) return;
  findings.unless(!objects.has(id), "E037", `${id} is there twice`);
  objects.set(id, folder);
  const digest = createHash("sha256").update(id).digest("hex");
  const place = [digest.slice(0, 3), digest.slice(3, 6), digest.slice(6, 9), digest].join("/");
  findings.unless(relative(root, folder) === place, "E083", `${id} lies in ${folder}`);
}
