/** Errors to HTTP clients: RFC 9457 problem documents that name the field. */
import type { ErrorRequestHandler, Request, Response } from "express";
import type { FieldProblem } from "../submission/field-problem.ts";

// prettier-ignore
const PROBLEMS = {
  INVALID_REQUEST:       { status: 400, title: "The request cannot be read" },
  INVALID_FIELDS:        { status: 400, title: "Some fields are not right" },
  INVALID_ID:            { status: 400, title: "This is no id of a batch or job" },
  NOT_FOUND:             { status: 404, title: "There is nothing here" },
  METHOD_NOT_ALLOWED:    { status: 405, title: "This cannot be done here" },
  TOO_LARGE:             { status: 413, title: "The request is larger than allowed" },
  UNSUPPORTED_MEDIA:     { status: 415, title: "The body is of another type than expected" },
  KEY_REUSED:            { status: 422, title: "The Idempotency-Key was used with another request" },
  PAYLOAD_DIGEST_MISMATCH: { status: 422, title: "The payload is not what its digest says" },
  UNEXPECTED:            { status: 500, title: "Something went wrong on our side" },
  UNAVAILABLE:           { status: 503, title: "Nothing can be taken just now" },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export interface Problem {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly errors?: readonly FieldProblem[];
  readonly retryAfterSeconds?: number;
}

/** For code that cannot answer with a value (middleware); the error handler turns it into the document. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

export const fieldProblems = (errors: readonly FieldProblem[]): Problem => ({
  code: "INVALID_FIELDS",
  detail: errors.map(({ field, detail }) => `${field}: ${detail}`).join("; "),
  errors,
});

export function sendProblem(req: Request, res: Response, problem: Problem): void {
  const { status, title } = PROBLEMS[problem.code];
  if (problem.retryAfterSeconds !== undefined) res.set("Retry-After", String(problem.retryAfterSeconds));
  res
    .status(status)
    .type("application/problem+json")
    .send(
      JSON.stringify({
        type: `/problems/${problem.code.toLowerCase().replaceAll("_", "-")}`,
        title,
        status,
        detail: problem.detail,
        instance: req.originalUrl.split("?", 1)[0],
        code: problem.code,
        ...(problem.errors === undefined ? {} : { errors: problem.errors }),
      }),
    );
}

/** What Express and its body parser throw, and what we did not expect. */
export function problemHandler(onUnexpected: (error: unknown) => void): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const problem = problemOf(error);
    if (problem.code === "UNEXPECTED") onUnexpected(error);
    sendProblem(req, res, problem);
  };
}

function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  const status = typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
  if (status === 413) return { code: "TOO_LARGE", detail: "the body is larger than allowed" };
  if (status === 415) return { code: "UNSUPPORTED_MEDIA", detail: "the body's encoding is not understood" };
  if (typeof status === "number" && status >= 400 && status < 500)
    return { code: "INVALID_REQUEST", detail: "the body is not valid JSON, or the path not valid" };
  return { code: "UNEXPECTED", detail: "the log has the reason" };
}
