/** Where words go: a progress line is drawn over itself on a terminal, and printed when it changes elsewhere. */
export interface Screen {
  readonly say: (line: string) => void;
  readonly progress: (line: string) => void;
}

export function makeScreen(out: {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}): Screen {
  let drawn = false;
  return {
    say(line) {
      if (drawn) out.write("\n");
      drawn = false;
      out.write(`${line}\n`);
    },
    progress(line) {
      if (out.isTTY !== true) {
        out.write(`${line}\n`);
        return;
      }
      out.write(`\r\u001B[K${line.slice(0, (out.columns ?? 120) - 1)}`);
      drawn = true;
    },
  };
}
