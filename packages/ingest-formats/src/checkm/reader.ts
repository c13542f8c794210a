import type { FormatProblem } from "../problem.ts";
import { quote } from "../text.ts";
import { type ManifestMode, readHeader } from "./header.ts";
import type { ManifestKind } from "./kinds.ts";
import { type Line, LineCutter, type LineOrProblem, type ManifestSource } from "./lines.ts";
import { type ManifestRow, readRow } from "./row.ts";
import { SeenNames } from "./seen-names.ts";

export interface ManifestOptions {
  readonly mode?: ManifestMode;
  /** What the submission says it is; another profile is then refused. */
  readonly kind?: ManifestKind;
  readonly maxBytes?: number;
  readonly maxLineLength?: number;
  /** Which addresses are taken that nobody fetches: of files that came with the manifest. */
  readonly isBeside?: (url: string) => boolean;
}

/** What a reader of a manifest meets, in order. */
export type ManifestEvent =
  | { readonly type: "kind"; readonly kind: ManifestKind }
  | { readonly type: "row"; readonly row: ManifestRow }
  | { readonly type: "problem"; readonly problem: FormatProblem };

const DEFAULT_MAX_LINE_LENGTH = 64 * 1024;

/**
 * Reads a manifest from beginning to end in bounded memory. Rows with problems are yielded as problems only. Reading
 * stops after a problem that makes the rest meaningless: no UTF-8, no profile, text after `#%eof`.
 */
export async function* readManifest(
  source: ManifestSource,
  options: ManifestOptions = {},
): AsyncGenerator<ManifestEvent> {
  for await (const events of readManifestChunks(source, options)) yield* events;
}

/** The same, one array for each chunk: awaiting every single row would cost more than reading it. */
export async function* readManifestChunks(
  source: ManifestSource,
  options: ManifestOptions = {},
): AsyncGenerator<readonly ManifestEvent[]> {
  const reader = new Reader(options);
  const cutter = new LineCutter({
    maxBytes: options.maxBytes ?? Number.MAX_SAFE_INTEGER,
    maxLineLength: options.maxLineLength ?? DEFAULT_MAX_LINE_LENGTH,
  });
  for await (const chunk of typeof source === "string" ? [source] : source) {
    yield reader.takeAll(cutter.take(chunk));
    if (reader.stopped) return;
  }
  yield reader.takeAll(cutter.end());
  if (!reader.stopped) yield reader.end();
}

class Reader {
  readonly #mode: ManifestMode;
  readonly #expected: ManifestKind | undefined;
  readonly #isBeside: (url: string) => boolean;
  readonly #header: Line[] = [];
  readonly #names = new SeenNames();
  #kind: ManifestKind | undefined;
  #rows = 0;
  #eof = false;
  stopped = false;

  constructor({ mode, kind, isBeside }: ManifestOptions) {
    this.#mode = mode ?? "default";
    this.#expected = kind;
    this.#isBeside = isBeside ?? (() => false);
  }

  takeAll(lines: readonly LineOrProblem[]): ManifestEvent[] {
    const events: ManifestEvent[] = [];
    for (const line of lines) {
      if (this.stopped) break;
      for (const each of "problem" in line ? this.#stop(line.problem) : this.#take(line)) events.push(each);
    }
    return events;
  }

  #take(line: Line): ManifestEvent[] {
    if (this.#eof) return this.#stop(afterEof(line));
    if (/^#%eof\s*$/i.test(line.text)) {
      this.#eof = true;
      return [];
    }
    if (line.text.startsWith("#")) {
      if (this.#rows === 0) this.#header.push(line);
      return [];
    }
    return /^\s*$/.test(line.text) ? [] : this.#takeRow(line);
  }

  end(): ManifestEvent[] {
    const events = this.#kind === undefined ? this.#settleHeader() : [];
    if (this.stopped) return events;
    if (!this.#eof) events.push({ type: "problem", problem: EOF_MISSING });
    if (this.#rows === 0) events.push({ type: "problem", problem: EMPTY });
    return events;
  }

  #takeRow(line: Line): ManifestEvent[] {
    this.#rows += 1;
    const events = this.#kind === undefined ? this.#settleHeader() : [];
    if (this.#kind === undefined) return events;
    const { row, problems } = readRow(line, this.#rows, {
      kind: this.#kind,
      mode: this.#mode,
      isBeside: this.#isBeside,
    });
    const all = [...problems, ...this.#duplicate(row, this.#kind)];
    if (all.length === 0) events.push({ type: "row", row });
    else for (const problem of all) events.push({ type: "problem", problem });
    return events;
  }

  #settleHeader(): ManifestEvent[] {
    const header = readHeader(this.#header, this.#mode, this.#expected);
    if (!header.ok) return this.#stop(header.problem);
    this.#kind = header.kind;
    return [
      { type: "kind", kind: header.kind },
      ...header.problems.map((problem): ManifestEvent => ({ type: "problem", problem })),
    ];
  }

  /** Files of one object share a folder; rows of a batch are objects of their own and may share a name. */
  #duplicate(row: ManifestRow, kind: ManifestKind): FormatProblem[] {
    const strict = this.#mode === "strict";
    if (row.fileName === undefined || (kind.endsWith("batch-manifest") && !strict)) return [];
    if (this.#names.add(strict ? row.fileName.toLowerCase() : row.fileName)) return [];
    return [
      {
        code: "NAME_DUPLICATE",
        message: `the name ${quote(row.fileName)} was used before`,
        line: row.line,
        row: row.row,
        column: "fileName",
        expected: "a name of its own for every row",
      },
    ];
  }

  #stop(problem: FormatProblem): ManifestEvent[] {
    this.stopped = true;
    return [{ type: "problem", problem }];
  }
}

const EOF_MISSING: FormatProblem = {
  code: "EOF_MISSING",
  message: "the manifest does not end with #%eof; it may be cut off",
  column: "#%eof",
  expected: "#%eof as the last line",
};

const EMPTY: FormatProblem = {
  code: "MANIFEST_EMPTY",
  message: "the manifest has no rows",
  expected: "at least one row",
};

const afterEof = (line: Line): FormatProblem => ({
  code: "TEXT_AFTER_EOF",
  message: line.text === "" ? "an empty line follows #%eof" : "there is text after #%eof",
  line: line.number,
  column: "#%eof",
  expected: "#%eof as the last line",
});
