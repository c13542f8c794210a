/** Refusals and silence in words that say what to do next. */
import type { Answer, Refusal } from "@sluice/client";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { safe } from "./text.ts";

export type NotOk = Exclude<Answer<unknown>, { ok: true }>;

export interface Told {
  readonly lines: readonly string[];
  readonly code: ExitCode;
}

/** `what` is the command, `where` how the service was found. */
export function tell(answer: NotOk, what: string, where: string): Told {
  if (answer.kind === "unreachable") {
    const code = answer.why.endsWith("no answer in time") ? EXIT.timeout : EXIT.error;
    const lines = [
      `sluice ${what}: ${safe(answer.why)}`,
      `  The address comes from ${where}.`,
      "  Next: is the fleet running (npm start), and is that address right (sluice context show)?",
    ];
    return { lines, code };
  }
  const { refusal } = answer;
  const fields = (refusal.errors ?? []).map(({ field, pointer, line, detail }) => {
    const place = [field ?? pointer ?? "", line === undefined ? "" : `line ${line}`].filter((part) => part !== "");
    return `  ${place.length === 0 ? "" : `${safe(place.join(", "))}: `}${safe(detail)}`;
  });
  const next = nextStep(refusal, what, where);
  return {
    lines: [
      `sluice ${what}: ${safe(refusal.detail)}`,
      ...fields,
      `  ${refusal.status} ${safe(refusal.code)}${refusal.instance === "" ? "" : `, request ${safe(refusal.instance)}`}`,
      ...(next === null ? [] : [`  Next: ${next}`]),
    ],
    code: codeOf(refusal.status),
  };
}

function codeOf(status: number): ExitCode {
  if (status === 404) return EXIT.notFound;
  if (status === 408 || status === 504) return EXIT.timeout;
  if (status === 400 || status === 422) return EXIT.usage;
  return status < 500 ? EXIT.refused : EXIT.error;
}

function nextStep({ status, retryAfterSeconds }: Refusal, what: string, where: string): string | null {
  switch (status) {
    case 400:
    case 422:
      return `see sluice ${what} --help`;
    case 401:
      return `set SLUICE_TOKEN, or name a file with --token-file; an admin makes tokens with sluice token create (asked at ${where})`;
    case 403:
      return "sluice whoami shows your role and your collections; an admin can give you another token";
    case 404:
      return "check the id; what belongs to collections that are not yours is not shown either";
    case 409:
      return "look at it again with show: it has changed, or its state does not allow this now";
    case 412:
      return "look again and repeat";
    case 413:
    case 507:
      return "there is no room for it: ask an operator, or submit less at once";
    case 429:
      return `wait ${retryAfterSeconds ?? 60} s and repeat`;
    case 503:
      return `ZooKeeper or the service is away: repeat in ${retryAfterSeconds ?? 10} s, and see sluice top`;
    default:
      return status >= 500 ? "the request's id finds it in the service's log" : null;
  }
}
