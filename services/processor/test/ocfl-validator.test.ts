import { linkSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import {
  type HandMade,
  inventoryV1,
  inventoryV2,
  write,
  writeHandMadeObject,
  writeInventory,
} from "./support/hand-made-object.ts";
import { validateObject } from "./support/ocfl-validator/object-rules.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";
import { tempFolder } from "./support/temp-folder.ts";

const codesOf = (root: string): string[] => [...new Set(validateObject(root).map(({ code }) => code))].sort();

/** The newest inventory, spoilt, in both its places. */
const spoil = (root: string, change: (inventory: HandMade) => void): void => {
  const inventory = inventoryV2();
  change(inventory);
  writeInventory(root, inventory);
  writeInventory(join(root, "v2"), inventory);
};
const firstDigest = (inventory: HandMade): string => Object.keys(inventory.manifest)[0]!;
const drop = (inventory: HandMade, key: string): void => void Reflect.deleteProperty(inventory, key);

const FAULTS: readonly [code: string, what: string, plant: (root: string) => void][] = [
  ["E001", "a file too many", (root) => write(join(root, "notes.txt"), "x")],
  ["E001", "a folder too many", (root) => write(join(root, "1/notes.txt"), "x")],
  ["E003", "no declaration", (root) => rmSync(join(root, "0=ocfl_object_1.1"))],
  [
    "E007",
    "a declaration that says something else",
    (root) => write(join(root, "0=ocfl_object_1.1"), "ocfl_object_1.1"),
  ],
  ["E008", "no versions", (root) => spoil(root, (i) => (i.versions = {}))],
  ["E010", "a version left out", (root) => spoil(root, (i) => Object.assign(i.versions, { v4: i.versions["v1"] }))],
  ["E015", "a file beside the content", (root) => write(join(root, "v1/notes.txt"), "x")],
  ["E023", "a file in no manifest", (root) => write(join(root, "v1/content/more.txt"), "x")],
  ["E024", "an empty folder in the content", (root) => mkdirSync(join(root, "v1/content/empty"))],
  ["E025", "a weak digest", (root) => spoil(root, (i) => (i.digestAlgorithm = "md5"))],
  ["E033", "an inventory that is no JSON", (root) => write(join(root, "inventory.json"), "{")],
  ["E036", "no id", (root) => spoil(root, (i) => drop(i, "id"))],
  [
    "E038",
    "an inventory of another version of the specification",
    (root) => spoil(root, (i) => (i.type = "https://ocfl.io/1.0/spec/#inventory")),
  ],
  ["E040", "a head that is not the highest", (root) => spoil(root, (i) => (i.head = "v1"))],
  ["E041", "no manifest", (root) => spoil(root, (i) => drop(i, "manifest"))],
  [
    "E042",
    "content outside the versions",
    (root) => spoil(root, (i) => (i.manifest[firstDigest(i)] = ["elsewhere/one.txt"])),
  ],
  ["E043", "no versions block", (root) => spoil(root, (i) => drop(i, "versions"))],
  [
    "E046",
    "a version folder that no inventory knows",
    (root) => {
      writeInventory(root, inventoryV1());
    },
  ],
  ["E046", "a version folder that is not there", (root) => rmSync(join(root, "v1"), { recursive: true })],
  ["E048", "a version without state", (root) => spoil(root, (i) => drop(i.versions["v2"] as never, "state"))],
  [
    "E049",
    "a date without time zone",
    (root) => spoil(root, (i) => (i.versions["v2"]!.created = "2026-01-03T03:04:05")),
  ],
  ["E050", "a state of unknown content", (root) => spoil(root, (i) => (i.versions["v2"]!.state["abc"] = ["x"]))],
  [
    "E052",
    "a logical path that climbs",
    (root) => spoil(root, (i) => (i.versions["v2"]!.state[firstDigest(i)] = ["a/../../x"])),
  ],
  [
    "E053",
    "an absolute logical path",
    (root) => spoil(root, (i) => (i.versions["v2"]!.state[firstDigest(i)] = ["/x"])),
  ],
  ["E054", "a user without a name", (root) => spoil(root, (i) => (i.versions["v2"]!.user = {}))],
  ["E056", "an unknown fixity algorithm", (root) => spoil(root, (i) => (i.fixity = { crc32: {} }))],
  [
    "E057",
    "a fixity block of another shape",
    (root) => spoil(root, (i) => (i.fixity = { md5: { abc: "x" } } as never)),
  ],
  ["E058", "no sidecar", (root) => rmSync(join(root, "inventory.json.sha512"))],
  [
    "E060",
    "a sidecar of another inventory",
    (root) => write(join(root, "inventory.json.sha512"), `${"0".repeat(128)} inventory.json\n`),
  ],
  ["E061", "a sidecar of another form", (root) => write(join(root, "inventory.json.sha512"), "0".repeat(128))],
  ["E063", "no root inventory", (root) => rmSync(join(root, "inventory.json"))],
  ["E064", "two newest inventories that differ", (root) => writeInventory(root, { ...inventoryV2(), fixity: {} })],
  [
    "E066",
    "a history that was rewritten",
    (root) => {
      const old = inventoryV1();
      old.versions["v1"]!.state[firstDigest(old)] = ["b/one.txt"];
      writeInventory(join(root, "v1"), old);
    },
  ],
  ["E090", "a symbolic link", (root) => symlinkSync("one.txt", join(root, "v1/content/a/link.txt"))],
  ["E090", "a hard link", (root) => linkSync(join(root, "v1/content/a/one.txt"), join(root, "v2/content/hard.txt"))],
  ["E092", "content that changed", (root) => write(join(root, "v1/content/a/one.txt"), "onE")],
  ["E092", "content that is gone", (root) => rmSync(join(root, "v2/content/two.txt"))],
  [
    "E093",
    "a fixity value that is wrong",
    (root) => spoil(root, (i) => (i.fixity = { sha256: { ["0".repeat(64)]: ["v2/content/two.txt"] } })),
  ],
  ["E094", "a message that is no text", (root) => spoil(root, (i) => (i.versions["v2"]!.message = 7))],
  [
    "E095",
    "a logical path that is file and folder",
    (root) => spoil(root, (i) => (i.versions["v2"]!.state[firstDigest(i)] = ["two.txt/x"])),
  ],
  [
    "E096",
    "a digest twice",
    (root) => spoil(root, (i) => (i.manifest[firstDigest(i).toUpperCase()] = ["v1/content/a/one.txt"])),
  ],
  [
    "E099",
    "a content path that climbs",
    (root) => spoil(root, (i) => (i.manifest[firstDigest(i)] = ["v1/content/../one.txt"])),
  ],
  [
    "E100",
    "an absolute content path",
    (root) => spoil(root, (i) => (i.manifest[firstDigest(i)] = ["/v1/content/one.txt"])),
  ],
  [
    "E101",
    "a content path twice",
    (root) => spoil(root, (i) => i.manifest[firstDigest(i)]!.push("v2/content/two.txt")),
  ],
  ["E102", "a key of our own", (root) => spoil(root, (i) => Object.assign(i, { extra: 1 }))],
  [
    "E104",
    "a version of another name",
    (root) => spoil(root, (i) => Object.assign(i.versions, { third: i.versions["v1"] })),
  ],
  ["E107", "content that no version uses", (root) => spoil(root, (i) => (i.manifest["abc"] = ["v2/content/two2.txt"]))],
  [
    "E110",
    "an id that changed",
    (root) => writeInventory(join(root, "v1"), { ...inventoryV1(), id: "ark:/99999/other" }),
  ],
];

describe("the OCFL validator", () => {
  test("has nothing to say about a valid object", () => {
    const root = tempFolder();
    writeHandMadeObject(root);
    expect(validateObject(root)).toEqual([]);
  });

  test.each(FAULTS)("finds %s: %s", (code, _what, plant) => {
    const root = tempFolder();
    writeHandMadeObject(root);
    plant(root);
    expect(codesOf(root)).toContain(code);
  });

  test("finds what is wrong with a storage root", () => {
    const root = tempFolder();
    write(join(root, "0=ocfl_1.1"), "ocfl_1.1");
    write(join(root, "ocfl_layout.json"), "{}");
    write(join(root, "extensions/file.txt"), "x");
    write(join(root, "abc/stray.txt"), "x");
    mkdirSync(join(root, "def"));
    writeHandMadeObject(join(root, "in/the/wrong/place"));
    const codes = validateRoot(root).errors.map(({ code }) => code);
    expect([...new Set(codes)].sort()).toEqual(["E070", "E071", "E072", "E073", "E080", "E083", "E112"]);
  });
});
