/** What follows from an exit code. */

export type Code = "retry" | "ok" | "failed" | "error";

/** RETRY=1xx, OK=2xx, FAILED=4xx; everything else was not to be expected, and is an error. */
export function codeOf(exit: number): Code {
  switch (Math.floor(exit / 100)) {
    case 1:
      return "retry";
    case 2:
      return "ok";
    case 4:
      return "failed";
    default:
      return "error";
  }
}
