import type { Fault } from "./database.ts";

/** Of ours: the server said nothing for too long. */
export const SILENCE = "NO_ANSWER";

/** Those who met another transaction. The one that lost is rolled back, and may begin again. */
const COLLIDED: ReadonlySet<string> = new Set([
  "ER_LOCK_DEADLOCK",
  "ER_LOCK_WAIT_TIMEOUT",
  "ER_CHECKREAD", // MariaDB: the row changed since the transaction began
]);

/** The connection broke, or the server goes or comes. */
const AWAY: ReadonlySet<string> = new Set([
  "PROTOCOL_CONNECTION_LOST",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ER_SERVER_SHUTDOWN",
  "ER_CONNECTION_KILLED",
  "ER_CON_COUNT_ERROR",
  "ER_TOO_MANY_USER_CONNECTIONS",
]);

/** An operator mends it. */
const PASSING: ReadonlySet<string> = new Set([
  SILENCE,
  "ER_QUERY_INTERRUPTED",
  "ER_DISK_FULL",
  "ER_RECORD_FILE_FULL",
  "ER_ERROR_ON_WRITE",
  "ER_OUT_OF_RESOURCES",
  "ER_OUTOFMEMORY",
  "ER_OPTION_PREVENTS_STATEMENT", // read-only: a replica, or a server under maintenance
  "ER_READ_ONLY_MODE",
]);

const MISCONFIGURED: ReadonlySet<string> = new Set([
  "ER_ACCESS_DENIED_ERROR",
  "ER_DBACCESS_DENIED_ERROR",
  "ER_BAD_DB_ERROR",
  "ER_TABLEACCESS_DENIED_ERROR",
  "ER_NOT_SUPPORTED_AUTH_MODE",
]);

export const isMisconfigured = (error: unknown): boolean => MISCONFIGURED.has(codeOf(error));

/** Null: not of the database. */
export function sortMySqlError(error: unknown): Fault | null {
  const code = codeOf(error);
  const message = `${code === "" ? "the connection" : code}: ${wordsOf(error)}`;
  if (COLLIDED.has(code) || AWAY.has(code)) return { fault: { kind: "unavailable", message }, again: true };
  if (code === "ER_DUP_ENTRY") return { fault: { kind: "refused", message }, again: true };
  if (PASSING.has(code) || MISCONFIGURED.has(code)) return { fault: { kind: "unavailable", message }, again: false };
  if (code.startsWith("ER_")) return { fault: { kind: "refused", message }, again: false };
  // A connection that ended earlier: the client says so without a code.
  return isFatal(error) ? { fault: { kind: "unavailable", message }, again: true } : null;
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : "";

const isFatal = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "fatal" in error && error.fatal === true;

/** The server's own sentence: never the statement, whose values are depositors' data. */
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
