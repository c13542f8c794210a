/**
 * A snapshot file: gzip of JSON lines. A header, one line per node (parents before children), a footer with counts and a
 * SHA-256 of all lines before it: a file that was torn or changed is refused before anything is written.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { z } from "zod";

export const FORMAT = 1;

export const HeaderSchema = z.object({
  sluice: z.literal("tree-snapshot"),
  format: z.literal(FORMAT),
  /** /fleet/id of the tree that it was taken from. */
  fleet: z.string(),
  /** Hexadecimal. `exact`: the tree as it was at this very transaction; `moving`: it changed while it was read. */
  zxid: z.string(),
  consistency: z.enum(["exact", "moving"]),
  at: z.string(),
});
export type Header = z.infer<typeof HeaderSchema>;

const FooterSchema = z.object({ nodes: z.number().int(), bytes: z.number().int(), sha256: z.string() });
export type Footer = z.infer<typeof FooterSchema>;

/** [path, data as text], or as base64 where the data is not UTF-8. */
const LineSchema = z.union([z.tuple([z.string(), z.string()]), z.tuple([z.string(), z.string(), z.literal("base64")])]);

export interface SnapshotNode {
  readonly path: string;
  readonly data: Buffer;
}

export function nodeLine({ path, data }: SnapshotNode): string {
  const text = data.toString("utf8");
  const exact = Buffer.from(text).equals(data);
  return JSON.stringify(exact ? [path, text] : [path, data.toString("base64"), "base64"]);
}

export type FileItem =
  | { readonly kind: "header"; readonly header: Header }
  | { readonly kind: "node"; readonly node: SnapshotNode }
  /** Comes last, and only if all that came before is what was written. */
  | { readonly kind: "whole"; readonly footer: Footer }
  | { readonly kind: "broken"; readonly why: string };

/** Reads a file line by line; ends with `whole` or with `broken`. */
export async function* readSnapshot(file: string): AsyncGenerator<FileItem, void, undefined> {
  const hash = createHash("sha256");
  let lines = 0;
  let footer: Footer | null = null;
  let why: string | null = null;
  try {
    for await (const line of linesOf(file)) {
      if (footer !== null) throw new Error("there is more after its end");
      const raw: unknown = JSON.parse(line);
      const end = Array.isArray(raw) || lines === 0 ? null : FooterSchema.safeParse(raw);
      if (end?.success === true) {
        footer = end.data;
        continue;
      }
      hash.update(`${line}\n`);
      if (lines === 0) yield { kind: "header", header: HeaderSchema.parse(raw) };
      else yield { kind: "node", node: nodeOf(LineSchema.parse(raw)) };
      lines += 1;
    }
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  why ??= endProblem(footer, lines - 1, hash.digest("hex"));
  if (why === null && footer !== null) yield { kind: "whole", footer };
  else yield { kind: "broken", why: why ?? "" };
}

function endProblem(footer: Footer | null, nodes: number, sha256: string): string | null {
  if (footer === null) return "it has no end";
  if (footer.nodes !== nodes) return `it has ${nodes} nodes, its end says ${footer.nodes}`;
  return footer.sha256 === sha256 ? null : "its digest is wrong";
}

/** Throws what goes wrong with the file: not there, not gzip, torn. */
async function* linesOf(file: string): AsyncGenerator<string, void, undefined> {
  const unzipped = createGunzip();
  const source = createReadStream(file);
  source.on("error", (error) => unzipped.destroy(error));
  source.pipe(unzipped).setEncoding("utf8");
  let rest = "";
  for await (const chunk of unzipped as AsyncIterable<string>) {
    const pieces = (rest + chunk).split("\n");
    rest = pieces.pop() ?? "";
    yield* pieces;
  }
  if (rest !== "") throw new Error("its last line is torn");
}

const nodeOf = ([path, data, encoding]: z.infer<typeof LineSchema>): SnapshotNode => ({
  path,
  data: Buffer.from(data, encoding ?? "utf8"),
});
