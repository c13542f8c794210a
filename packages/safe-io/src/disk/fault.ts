import { errorCode } from "../error-code.ts";
import { type FaultCode, failure, type IoFault, IoError, type Outcome, success } from "../outcome.ts";

const CODES: ReadonlyMap<string, FaultCode> = new Map<string, FaultCode>([
  ["ENOENT", "NOT_FOUND"],
  ["EEXIST", "ALREADY_THERE"],
  ["ENOTEMPTY", "ALREADY_THERE"],
  // A file where a folder is needed, or the other way round: two names of one deposit exclude each other.
  ["ENOTDIR", "ALREADY_THERE"],
  ["EISDIR", "ALREADY_THERE"],
  ["ENAMETOOLONG", "NAME_REFUSED"],
  ["ELOOP", "LINK_REFUSED"],
  ["ENOSPC", "NO_SPACE"],
  ["EDQUOT", "NO_SPACE"],
]);

/** Turns what the file system threw into a fault. A full disk is worth another try, when somebody has made room. */
export function faultOfDiskError(error: unknown, what: string): IoFault {
  if (error instanceof IoError) return error.fault;
  const errno = errorCode(error) ?? "UNKNOWN";
  const code = CODES.get(errno) ?? "IO_ERROR";
  return { code, message: `${what}: ${errno}`, retryable: code === "NO_SPACE" || code === "IO_ERROR" };
}

/** Runs a disk operation; what it throws becomes a value. */
export async function attempt<T>(what: string, operation: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return success(await operation());
  } catch (error) {
    return failure(faultOfDiskError(error, what));
  }
}
