import { errorCode } from "../error-code.ts";
import { type FaultCode, type IoFault, IoError } from "../outcome.ts";

const CODES: ReadonlyMap<string, FaultCode> = new Map<string, FaultCode>([
  ["ENOTFOUND", "DNS_FAILED"],
  ["EAI_AGAIN", "DNS_FAILED"],
  ["ENODATA", "DNS_FAILED"],
  ["ECONNREFUSED", "CONNECT_FAILED"],
  ["EHOSTUNREACH", "CONNECT_FAILED"],
  ["ENETUNREACH", "CONNECT_FAILED"],
  ["EADDRNOTAVAIL", "CONNECT_FAILED"],
  ["ETIMEDOUT", "TIMEOUT"],
  ["UND_ERR_CONNECT_TIMEOUT", "TIMEOUT"],
  ["UND_ERR_HEADERS_TIMEOUT", "TIMEOUT"],
  ["UND_ERR_BODY_TIMEOUT", "TIMEOUT"],
  ["ECONNRESET", "CONNECTION_LOST"],
  ["EPIPE", "CONNECTION_LOST"],
  ["UND_ERR_SOCKET", "CONNECTION_LOST"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "CONNECTION_LOST"],
  ["UND_ERR_ABORTED", "ABORTED"],
  ["UND_ERR_HEADERS_OVERFLOW", "PROTOCOL_ERROR"],
  ["UND_ERR_INVALID_ARG", "EGRESS_REFUSED"],
]);

const RETRYABLE: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "DNS_FAILED",
  "CONNECT_FAILED",
  "CONNECTION_LOST",
  "TIMEOUT",
]);

/** Turns whatever the HTTP client threw into a fault. `place` is the URL as it may be shown. */
export function faultOfError(error: unknown, place: string): IoFault {
  if (error instanceof IoError) return error.fault;
  const clientCode = errorCode(error) ?? "UNKNOWN";
  const code = faultCodeOf(clientCode);
  return { code, message: `${place}: ${WORDS[code] ?? "failed"} (${clientCode})`, retryable: RETRYABLE.has(code) };
}

const WORDS: Partial<Record<FaultCode, string>> = {
  DNS_FAILED: "the host name could not be resolved",
  CONNECT_FAILED: "no connection",
  TLS_FAILED: "the certificate was not accepted",
  CONNECTION_LOST: "the connection ended too early",
  TIMEOUT: "no answer in time",
  ABORTED: "given up",
  EGRESS_REFUSED: "the request cannot be sent",
  PROTOCOL_ERROR: "the answer is no proper HTTP",
};

function faultCodeOf(clientCode: string): FaultCode {
  const known = CODES.get(clientCode);
  if (known !== undefined) return known;
  if (/CERT|TLS|SSL|SELF_SIGNED/.test(clientCode)) return "TLS_FAILED";
  return clientCode.startsWith("HPE_") || clientCode === "HTTPParserError" ? "PROTOCOL_ERROR" : "CONNECTION_LOST";
}

const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

export function faultOfStatus(status: number, place: string, retryAfter: string | undefined, nowMs: number): IoFault {
  const retryAfterMs = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, nowMs);
  return {
    code: "HTTP_STATUS",
    message: `${place}: HTTP ${status}`,
    retryable: TEMPORARY.has(status),
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Seconds, or a date. Nonsense is no wish. */
export function parseRetryAfter(text: string, nowMs: number): number | undefined {
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
