/** What EZID is told of an object: its ANVL dialect, and the elements that Merritt writes. Pure. */
import { UNASSIGNED } from "@sluice/ingest-formats";
import type { MintRequest } from "./minter.ts";

export type EzidElements = readonly (readonly [name: string, value: string])[];

/** Of the job that registered a name: by it a re-run tells its own name from another's. */
export const JOB_ELEMENT = "mrt.job";

/** Reserved: EZID knows it, nobody else does. */
export const registrationOf = (request: MintRequest): EzidElements => [
  ...describing(request),
  ["_status", "reserved"],
  ["_export", "no"],
];

/** `target`: where readers of the ARK are sent; objects of the repository's own administration stay reserved. */
export function publicationOf(request: MintRequest, target: string | undefined): EzidElements {
  const administrative = request.profile.objectRole === "MRT-class";
  return [
    ...describing(request),
    ...(target === undefined || request.retainTarget
      ? []
      : ([["_target", `${target}/m/${encodeURIComponent(encodeURIComponent(request.ark))}`]] as const)),
    ...(administrative
      ? []
      : ([
          ["_status", "public"],
          ["_export", "yes"],
        ] as const)),
  ];
}

function describing({ profile, ark, job, who, what, when, localIds }: MintRequest): EzidElements {
  const kernel = { who, what, when, where: [ark, ...localIds].join("; ") };
  const lines = Object.entries(kernel).map(([name, value]) => `${name}: ${oneLine(value ?? UNASSIGNED)}\n`);
  return [
    ["erc", lines.join("")],
    [JOB_ELEMENT, job],
    ...(profile.context === undefined ? [] : ([["mrt.creator", profile.context]] as const)),
    ...(profile.ezidCoOwner === undefined ? [] : ([["_owner", profile.ezidCoOwner]] as const)),
  ];
}

/** Inside of the erc element a line end begins the next of its own elements. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, " ");

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

export const printEzid = (elements: EzidElements): string =>
  elements
    .map(([name, value]) => `${name.replaceAll(/[%\r\n:]/g, hex)}: ${value.replaceAll(/[%\r\n]/g, hex)}\n`)
    .join("");

export function parseEzid(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line.includes(":"));
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [unescape(line.slice(0, colon)), unescape(line.slice(colon + 1).trim())];
    }),
  );
}

const unescape = (text: string): string =>
  text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_match, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
