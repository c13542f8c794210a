/** docs/errors.md: why jobs and batches fail, and what HTTP clients are told, from the two tables of codes. */
import { PROBLEMS } from "@sluice/http-api";
import { ERROR_CODES, type ErrorRow } from "@sluice/queue-core";
import { generatedFrom, table } from "./markdown.ts";

export function describeErrors(): string {
  return [
    generatedFrom("packages/queue-core/src/errors.ts and packages/http-api/src/problem.ts"),
    "# Errors",
    "",
    "## Failures of jobs and batches",
    "",
    ...INTRODUCTION,
    "",
    ...Object.entries(ERROR_CODES).flatMap(([code, row]) => [...section(code, row), ""]),
    "## Problems of HTTP requests",
    "",
    "`code` of an `application/problem+json` answer (RFC 9457). `errors` names every wrong field; `instance` is the id of the",
    "request, which is also in the log.",
    "",
    ...table(
      ["Code", "Status", "Title"],
      Object.entries(PROBLEMS).map(([code, { status, title }]) => [`\`${code}\``, String(status), title]),
    ),
    "",
  ].join("\n");
}

const INTRODUCTION = [
  "Why a job or a batch is Failed. The message of its status begins with one of these codes, and so do the `why` of the log line",
  "`job settled` and the label `reason` of `sluice_stage_attempts_total`. A passing failure has the same code while it is tried",
  "again. A job fails when its attempts are used up: with the code of the last one and a message that begins with",
  "`given up after N attempts`, or in states that cannot fail as `QUARANTINED`. (Messages of earlier versions begin with `GIVEN_UP` and have",
  "the cause in their text: they are listed under the cause.)",
  "",
  "_Resumable: no_ means that nothing an operator does can help while the job has not got past Pending: a new submission is",
  "needed. Later stages can always be resumed, also at an earlier stage (see [states.md](states.md)).",
];

function section(code: string, { says, resumable, depositor, operator }: ErrorRow): readonly string[] {
  return [
    `### ${code}`,
    "",
    `${capital(says)}.`,
    "",
    `- Resumable: ${resumable ? "yes" : "no"}`,
    `- Depositor: ${depositor}`,
    `- Operator: ${operator}`,
  ];
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
