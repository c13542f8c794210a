/** Every problem that our services answer with: its status and its title. `code` and `type` follow from the name. */
export const PROBLEMS = {
  MALFORMED_REQUEST: { status: 400, title: "The request cannot be read" },
  INVALID_REQUEST: { status: 400, title: "The request has wrong or missing fields" },
  UNAUTHENTICATED: { status: 401, title: "Authentication is needed" },
  FORBIDDEN: { status: 403, title: "Not allowed" },
  NOT_FOUND: { status: 404, title: "Not found" },
  METHOD_NOT_ALLOWED: { status: 405, title: "Method not allowed here" },
  REQUEST_TIMEOUT: { status: 408, title: "The request took too long to arrive" },
  CONFLICT: { status: 409, title: "The current state does not allow this" },
  COLLECTION_HELD: { status: 409, title: "The collection is held" },
  CONFIRMATION_NEEDED: { status: 409, title: "This must be confirmed" },
  REQUEST_IN_PROGRESS: { status: 409, title: "The same request is being worked on" },
  CLAIM_LOST: { status: 410, title: "This claim no longer counts" },
  SCHEDULE_ENDED: { status: 410, title: "The schedule has ended" },
  PRECONDITION_FAILED: { status: 412, title: "It has changed meanwhile" },
  PAYLOAD_TOO_LARGE: { status: 413, title: "Too large" },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: "This content type is not understood" },
  MANIFEST_INVALID: { status: 422, title: "The manifest has errors" },
  PROFILE_UNKNOWN: { status: 422, title: "There is no such profile" },
  DIGEST_MISMATCH: { status: 422, title: "The content does not have the digest given" },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: "The idempotency key was used for another request" },
  TOO_MANY_REQUESTS: { status: 429, title: "Too many requests" },
  HEADERS_TOO_LARGE: { status: 431, title: "The headers are too large" },
  INTERNAL_ERROR: { status: 500, title: "An error on our side" },
  UNAVAILABLE: { status: 503, title: "Not available at the moment" },
  INSUFFICIENT_STORAGE: { status: 507, title: "There is no room left" },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** One fault in what was sent: `pointer` into a JSON body, `field` of a form or query, or `line` of a manifest. */
export interface ProblemItem {
  readonly pointer?: string;
  readonly field?: string;
  readonly line?: number;
  readonly detail: string;
}

/** Statuses that tell a caller to come again say when: the type demands it. */
type LaterCode = {
  [C in ProblemCode]: (typeof PROBLEMS)[C]["status"] extends 429 | 503 ? C : never;
}[ProblemCode];

interface Facts {
  /** For people, about this case; nothing of our insides. */
  readonly detail: string;
  readonly errors?: readonly ProblemItem[];
}

export type Problem = Facts &
  (
    | {
        readonly code: LaterCode;
        /** Sent as Retry-After. */
        readonly retryAfterSeconds: number;
      }
    | { readonly code: Exclude<ProblemCode, LaterCode>; readonly retryAfterSeconds?: number }
  );

interface Extra {
  readonly errors?: readonly ProblemItem[];
  readonly retryAfterSeconds?: number;
}

export function problem(
  code: LaterCode,
  detail: string,
  extra: Extra & { readonly retryAfterSeconds: number },
): Problem;
export function problem(code: Exclude<ProblemCode, LaterCode>, detail: string, extra?: Extra): Problem;
export function problem(code: ProblemCode, detail: string, extra: Extra = {}): Problem {
  // Each signature above has what its codes need.
  return { code, detail, ...extra } as Problem;
}

/** RFC 9457, with `code` and `errors` as extensions. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The request's id, as in our logs. */
  readonly instance: string;
  readonly code: ProblemCode;
  readonly errors?: readonly ProblemItem[];
}

export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/** COLLECTION_HELD → /problems/collection-held */
export const problemType = (code: ProblemCode): string => `/problems/${code.toLowerCase().replaceAll("_", "-")}`;

export function problemDocument({ code, detail, errors }: Problem, requestId: string): ProblemDocument {
  const { status, title } = PROBLEMS[code];
  const document = { type: problemType(code), title, status, detail, instance: requestId, code };
  return errors === undefined || errors.length === 0 ? document : { ...document, errors };
}
