/** An OCFL inventory, read with distrust: it says which files of our disk we open. */
import { createHash } from "node:crypto";
import { z } from "zod";

const pathsByDigest = z.record(z.string(), z.array(z.string()));

const InventorySchema = z.object({
  id: z.string(),
  head: z.string().regex(/^v[1-9]\d*$/),
  manifest: pathsByDigest,
  versions: z.record(
    z.string(),
    z.object({ created: z.string(), state: pathsByDigest, message: z.string().default("") }),
  ),
  fixity: z.record(z.string(), pathsByDigest).default({}),
});

/** One file of a version: its logical path, and where its content lies below the object's folder. */
export interface VersionFile {
  readonly path: string;
  readonly contentPath: string;
  readonly sha512: string;
  readonly sha256: string | undefined;
  /** The content came with this version. */
  readonly isNew: boolean;
}

export interface OcflVersion {
  readonly id: string;
  readonly number: number;
  readonly created: string;
  readonly message: string;
  readonly files: readonly VersionFile[];
}

export type ParsedInventory =
  { readonly ok: true; readonly version: OcflVersion } | { readonly ok: false; readonly problem: string };

/** The head version of an inventory whose sidecar was found beside it. */
export function parseInventory(bytes: Buffer, sidecar: string): ParsedInventory {
  const digest = createHash("sha512").update(bytes).digest("hex");
  if (sidecar.split(/\s/)[0]?.toLowerCase() !== digest) return wrong("its digest is not the one in its sidecar");
  const inventory = InventorySchema.safeParse(parseJson(bytes));
  if (!inventory.success) return wrong(inventory.error.issues[0]?.message ?? "it cannot be read");
  const { id, head, versions } = inventory.data;
  const version = versions[head];
  if (version === undefined) return wrong(`it has no ${head}`);
  const files = filesOf(inventory.data, version.state);
  if (files === null) return wrong("it names content that cannot be there");
  const { created, message } = version;
  return { ok: true, version: { id, number: Number(head.slice(1)), created, message, files } };
}

const wrong = (problem: string): ParsedInventory => ({ ok: false, problem });

function filesOf(
  { head, manifest, fixity }: z.infer<typeof InventorySchema>,
  state: Readonly<Record<string, readonly string[]>>,
): VersionFile[] | null {
  const sha256Of = new Map(
    Object.entries(fixity["sha256"] ?? {}).flatMap(([digest, paths]) => paths.map((path) => [path, digest])),
  );
  const files: VersionFile[] = [];
  for (const [sha512, paths] of Object.entries(state)) {
    const contentPath = manifest[sha512]?.[0];
    if (contentPath === undefined || !isContentPath(contentPath)) return null;
    const isNew = contentPath.startsWith(`${head}/`);
    for (const path of paths) files.push({ path, contentPath, sha512, sha256: sha256Of.get(contentPath), isNew });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const isContentPath = (path: string): boolean =>
  /^v[1-9]\d*\/content\/./.test(path) && !path.split("/").some((part) => part === "" || part === "." || part === "..");

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
