/** Colour, only where a person looks. */
export interface Paint {
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

const same = (text: string): string => text;
const plain: Paint = { red: same, green: same, yellow: same, bold: same, dim: same };
const code =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001b[${on}m${text}\u001b[${off}m`;
const ansi: Paint = {
  red: code(31, 39),
  green: code(32, 39),
  yellow: code(33, 39),
  bold: code(1, 22),
  dim: code(2, 22),
};

type Environment = Readonly<Record<string, string | undefined>>;

/** https://no-color.org: any value that is not empty turns it off. */
export function paintFor(isTerminal: boolean, env: Environment, off: boolean): Paint {
  const wanted = isTerminal && !off && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  return wanted ? ansi : plain;
}

const GOOD = new Set(["Completed", "done", "pass"]);
const BAD = new Set(["Failed", "failed", "fail", "Refused"]);
const WAITING = new Set(["Held", "Deleted", "stopped", "warn", "paused", "draining", "expired"]);

/** States in the colours that they have everywhere. */
export function paintState(paint: Paint, state: string): string {
  if (BAD.has(state)) return paint.red(state);
  if (GOOD.has(state)) return paint.green(state);
  return WAITING.has(state) ? paint.yellow(state) : state;
}
