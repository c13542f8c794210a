import { describeProblem, type FormatProblem, kindOfHead, validateManifest } from "@sluice/ingest-formats";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, toNobody } from "../command.ts";
import { stop } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { plural, showBytes } from "../output/text.ts";

const PROBLEMS_MAX = 1_000;
const HEAD_BYTES = 4_096;

export const MANIFEST_COMMAND: Command = {
  words: ["manifest", "check"],
  says: "Check a manifest here, without a service: every error with its line, row and column; 2 if there are any",
  takes: [{ name: "FILE", file: true }],
  options: [{ name: "strict", says: "by the rules of Merritt's public validator" }],
  examples: ["manifest check batch.checkm"],
  talksTo: toNobody,
  async run(context) {
    const { printer, given, io } = context;
    const file = resolve(io.cwd, context.args[0] ?? "");
    const head = await headOf(file);
    if (head === null) return stop(context, EXIT.notFound, `${file} cannot be read`);
    const mode = given.has("strict") ? ("strict" as const) : ("default" as const);
    const verdict = await validateManifest(createReadStream(file), { mode, problemLimit: PROBLEMS_MAX });
    if (verdict.ok) {
      const { rowCount, knownBytes, rowsWithoutSize, kind } = verdict;
      const unsized = rowsWithoutSize === 0 ? "" : `, ${rowsWithoutSize} without a size`;
      const message = `${file} is a good ${kind}: ${plural(rowCount, "row")}, ${showBytes(knownBytes)}${unsized}`;
      printer.done(verdict, file, message);
      return EXIT.ok;
    }
    printer.list<FormatProblem>({
      raw: verdict,
      items: verdict.problems,
      columns: [
        { title: "LINE", of: ({ line }) => String(line ?? ""), right: true },
        { title: "ROW", of: ({ row }) => String(row ?? ""), right: true },
        { title: "COLUMN", of: ({ column }) => column ?? "" },
        { title: "CODE", of: ({ code }) => code, wide: true },
        { title: "PROBLEM", of: ({ message }) => message },
        { title: "EXPECTED", of: ({ expected }) => expected ?? "" },
      ],
      nameOf: describeProblem,
      none: "",
    });
    const many = `${plural(verdict.problems.length, "problem")}${verdict.truncated ? " and more" : ""}`;
    printer.note(
      `${many} in ${file}${kindOfHead(head) === undefined ? "; its first lines name no kind of manifest that we know" : ""}`,
    );
    return EXIT.attention;
  },
};

async function headOf(file: string): Promise<string | null> {
  try {
    const handle = await open(file, "r");
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}
