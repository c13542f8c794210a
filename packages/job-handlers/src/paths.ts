/** Where handlers stand in the tree of the general queue, and which types can have one. */
const ROOT = "/fleet/queue";
const TYPE_BYTES = 255;

export const paths = {
  /** From the top down, as they are made. */
  frame: ["/fleet", ROOT, `${ROOT}/handlers`],
  root: `${ROOT}/handlers`,
  tenant: (tenant: string) => `${ROOT}/handlers/${tenant}`,
  type: (tenant: string, type: string) => `${ROOT}/handlers/${tenant}/${encodeType(type)}`,
  version: (tenant: string, type: string, version: number) =>
    `${ROOT}/handlers/${tenant}/${encodeType(type)}/${version}`,
} as const;

/** Types may have any signs, a znode's name may not; a name of dots alone is none. */
const encodeType = (type: string): string =>
  encodeURIComponent(type).replace(/^\.+$/, (dots) => "%2E".repeat(dots.length));

export const decodeType = (name: string): string => decodeURIComponent(name);

/** Null: the type can have a handler. `@` and a number at the end name a version. */
export function typeProblem(type: string): string | null {
  if (type === "" || Buffer.byteLength(type) > TYPE_BYTES) return `a type has 1 to ${TYPE_BYTES} bytes`;
  if (Buffer.from(type).toString() !== type) return "a type is Unicode";
  return VERSIONED.test(type) ? "@ and a number at the end of a type name a version" : null;
}

const VERSIONED = /^(.*)@(\d{1,9})$/s;

/** name@3 is version 3 of name. */
export function splitVersion(type: string): { readonly type: string; readonly version: number | null } {
  const [, name, version] = VERSIONED.exec(type) ?? [];
  return name === undefined ? { type, version: null } : { type: name, version: Number(version) };
}
