/** What a script can tell from the exit code. One table: help and docs/cli.md show it. */
export const EXIT = {
  ok: 0,
  error: 1,
  attention: 2,
  notFound: 3,
  refused: 4,
  timeout: 5,
  usage: 64,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_SAYS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "done",
  error: "it could not be done: nobody answers, or an error on the other side",
  attention: "done, and something needs a look: a failed batch, findings of fsck, jobs that refused",
  notFound: "there is no such thing, or it is not yours to see",
  refused: "refused: not allowed, not now, or somebody was faster",
  timeout: "not over within --timeout",
  usage: "the command is wrong: nothing was sent",
  interrupted: "Ctrl-C",
};

/** Of several outcomes the one to tell: trouble first, then what needs a look. */
export const worst = (codes: readonly ExitCode[]): ExitCode =>
  codes.reduce<ExitCode>((a, b) => (rank(b) > rank(a) ? b : a), EXIT.ok);

const ORDER: readonly ExitCode[] = [0, 2, 3, 4, 5, 1, 64, 130];
const rank = (code: ExitCode): number => ORDER.indexOf(code);
