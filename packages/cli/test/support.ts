/** A terminal that is none: what was written can be looked at, what is asked is answered. */
import type { Io } from "../src/io.ts";
import { run } from "../src/run.ts";

export interface Played {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly questions: readonly string[];
}

export interface Stage {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly home?: string;
  /** Answers to questions, in order; without them nobody is there. */
  readonly answers?: readonly string[];
  readonly stdin?: string;
  /** stdout and stderr are one of so many columns. */
  readonly terminal?: number;
  readonly nowMs?: () => number;
  readonly interrupted?: AbortSignal;
  readonly onErr?: (text: string) => void;
  readonly onOut?: (text: string) => void;
  readonly keys?: (press: (key: string) => void) => void;
}

export async function sluice(words: string | readonly string[], stage: Stage = {}): Promise<Played> {
  const said = { out: "", err: "" };
  const questions: string[] = [];
  const answers = [...(stage.answers ?? [])];
  const isTerminal = stage.terminal !== undefined;
  const size = () => ({ columns: stage.terminal ?? 80, rows: 40 });
  const io: Io = {
    env: stage.env ?? {},
    cwd: stage.cwd ?? "/",
    home: stage.home ?? "/nowhere",
    user: "ida",
    stdout: {
      isTerminal,
      size,
      write(text) {
        said.out += text;
        stage.onOut?.(text);
      },
    },
    stderr: {
      isTerminal,
      size,
      write(text) {
        said.err += text;
        stage.onErr?.(text);
      },
    },
    nowMs: stage.nowMs ?? Date.now,
    interrupted: stage.interrupted ?? new AbortController().signal,
    ask:
      stage.answers === undefined
        ? null
        : (question) => {
            questions.push(question);
            return Promise.resolve(answers.shift() ?? "");
          },
    readStdin: () => Promise.resolve(stage.stdin ?? ""),
    onKey: (listener) => {
      stage.keys?.(listener);
      return () => undefined;
    },
  };
  const code = await run(typeof words === "string" ? splitWords(words) : words, io, "0.0.0");
  return { code, ...said, questions };
}

/** As a shell does it: spaces part words, double quotes keep them together. */
export const splitWords = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
