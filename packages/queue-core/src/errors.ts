/**
 * Why a job or batch can fail: one table. A status message is "CODE: what happened"; docs/errors.md has a heading for
 * each code. `resumable: false` means that nothing an operator does can help: a new submission is needed.
 */
export interface ErrorRow {
  readonly resumable: boolean;
  readonly says: string;
  /** What the depositor can do, who can submit again but not resume. */
  readonly depositor: string;
  /** What an operator can do. */
  readonly operator: string;
}

/** Who reads about a failure. */
export type Reader = "depositor" | "operator";

const ASK_OPERATORS = "nothing you sent is wrong: ask the operators, who can resume the job without a new submission";

export const ERROR_CODES = {
  UNEXPECTED: {
    resumable: true,
    says: "the stage hit an unexpected error",
    depositor: ASK_OPERATORS,
    operator: "read the job's log; fix the cause, then resume",
  },
  QUARANTINED: {
    resumable: true,
    says: "the job repeatedly crashed its worker",
    depositor: ASK_OPERATORS,
    operator: "read the workers' logs around its claims; fix the cause, then resume",
  },
  OPERATOR_FAILED: {
    resumable: true,
    says: "an operator failed the job",
    depositor: ASK_OPERATORS,
    operator: "resume it when it may continue",
  },
  PAYLOAD_DIGEST_MISMATCH: {
    resumable: false,
    says: "the payload does not match the depositor's digest",
    depositor: "submit again with the right payload or digest",
    operator: "nothing: only a new submission helps",
  },
  PAYLOAD_UNREADABLE: {
    resumable: true,
    says: "the payload cannot be read",
    depositor: "make the payload available at its URL, then submit again",
    operator: "check the payload's URL; then resume",
  },
  MANIFEST_CORRUPT: {
    resumable: false,
    says: "the manifest breaks the rules named in the message",
    depositor: "correct the manifest and submit again",
    operator: "nothing: only a new submission helps",
  },
  MANIFEST_UNREACHABLE: {
    resumable: true,
    says: "the manifest could not be fetched",
    depositor: "make the manifest available at its URL, then submit again",
    operator: "check that the manifest's URL can be reached from here; then ask for a new submission",
  },
  PROFILE_UNKNOWN: {
    resumable: true,
    says: "there is no such profile",
    depositor: "submit under a profile that exists",
    operator: "add the profile; then resume, or ask for a new submission",
  },
  UNSUPPORTED_TYPE: {
    resumable: false,
    says: "this type of payload is not accepted",
    depositor: "submit one of the types that the message names",
    operator: "nothing: only a new submission helps",
  },
  NAME_REFUSED: {
    resumable: false,
    says: "a file name would leave the job's folder",
    depositor: "rename the file in the manifest or container and submit again",
    operator: "nothing: only a new submission helps",
  },
  URL_REFUSED: {
    resumable: true,
    says: "files may not be fetched from this URL",
    depositor: "use a public http or https URL and submit again",
    operator: "if this host may be fetched from, allow it; then resume",
  },
  DOWNLOAD_FAILED: {
    resumable: true,
    says: "a file could not be fetched",
    depositor: "make the file available at its URL; then ask the operators to resume the job, or submit again",
    operator: "check that the URL can be reached from here, or ask the depositor; then resume",
  },
  DIGEST_MISMATCH: {
    resumable: true,
    says: "a file does not match its digest in the manifest",
    depositor:
      "correct the file or the manifest; then submit again, or ask the operators to resume the job if only the file was wrong",
    operator: "when the depositor has corrected the file, resume at Downloading",
  },
  SIZE_MISMATCH: {
    resumable: true,
    says: "a file's size differs from the manifest",
    depositor:
      "correct the file or the manifest; then submit again, or ask the operators to resume the job if only the file was wrong",
    operator: "when the depositor has corrected the file, resume at Downloading",
  },
  DIGEST_UNSUPPORTED: {
    resumable: false,
    says: "this digest algorithm is not supported",
    depositor: "submit again with md5, sha-1, sha-256, sha-384, sha-512, crc-32 or adler-32",
    operator: "nothing: only a new submission helps",
  },
  CONTAINER_CORRUPT: {
    resumable: true,
    says: "the container is damaged, or is no zip, tar, gzip or bzip2",
    depositor: "correct the container and submit again",
    operator: "when the depositor has corrected the container at its URL, resume at Downloading",
  },
  CONTAINER_REFUSED: {
    resumable: true,
    says: "the container holds entries that are not unpacked, or too many",
    depositor: "pack it without what the message names and submit again",
    operator: "when the depositor has corrected the container at its URL, resume at Downloading",
  },
  CONTAINER_TIMEOUT: {
    resumable: true,
    says: "the container takes too long to unpack",
    depositor: "submit the content as several smaller containers",
    operator: "if the machine was slow, or `UNPACK_TIMEOUT_MS` is raised, resume at Downloading",
  },
  METADATA_INVALID: {
    resumable: true,
    says: "a reserved file in the package is invalid",
    depositor: "correct the file that the message names and submit again",
    operator: "when the depositor has corrected the file at its URL, resume at Downloading",
  },
  FILES_MISSING: {
    resumable: true,
    says: "the job's working files are missing",
    depositor: ASK_OPERATORS,
    operator: "resume at Downloading; an upload that is gone must be submitted again",
  },
  IDENTIFIER_CONFLICT: {
    resumable: true,
    says: "local id and ARK name different objects",
    depositor: "correct the identifiers and submit again",
    operator: "nothing, unless the inventory is wrong: only a new submission helps",
  },
  COLLECTION_MISMATCH: {
    resumable: true,
    says: "the ARK or local id names an object of another collection or owner",
    depositor: "submit under a profile of the object's collection, or without that ARK or local id",
    operator:
      "if this profile may change that collection's objects, name the collection as `UpdatesCollection.N` in the profile, then resume (a resume without that fails again)",
  },
  MINT_FAILED: {
    resumable: true,
    says: "no identifier could be minted",
    depositor: ASK_OPERATORS,
    operator: "check the minter; then resume",
  },
  STORE_FAILED: {
    resumable: true,
    says: "the store refused the object",
    depositor: ASK_OPERATORS,
    operator: "check the store; then resume",
  },
  RECORD_FAILED: {
    resumable: true,
    says: "the inventory refused the object",
    depositor: ASK_OPERATORS,
    operator: "check the inventory database; then resume",
  },
  CALLBACK_FAILED: {
    resumable: true,
    says: "the depositor's system did not accept the callback",
    depositor: "check that your callback URL accepts posts; then ask the operators to resume the job",
    operator: "check the receiver with the depositor; then resume",
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The depositor's input is the cause: no operator need look at it. */
const OF_THE_DEPOSIT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "PAYLOAD_DIGEST_MISMATCH",
  "MANIFEST_CORRUPT",
  "UNSUPPORTED_TYPE",
  "NAME_REFUSED",
  "URL_REFUSED",
  "DOWNLOAD_FAILED",
  "DIGEST_MISMATCH",
  "SIZE_MISMATCH",
  "DIGEST_UNSUPPORTED",
  "CONTAINER_CORRUPT",
  "CONTAINER_REFUSED",
  "CONTAINER_TIMEOUT",
  "METADATA_INVALID",
  "IDENTIFIER_CONFLICT",
  "COLLECTION_MISMATCH",
]);

export const isOfTheDeposit = (code: ErrorCode): boolean => OF_THE_DEPOSIT.has(code);

/** A status node's message stays readable in a console and small in the tree. */
const MESSAGE_MAX = 2_000;

export const failureMessage = (code: ErrorCode, text: string): string => `${code}: ${text}`.slice(0, MESSAGE_MAX);

/** Earlier versions named a job that was given up after this, and the cause in the text. */
const GIVEN_UP_BEFORE = /^GIVEN_UP: after \d+ attempts: /;

/** The cause of a failure, whichever version wrote the message. */
export function codeOfMessage(message: string): ErrorCode | null {
  const word = /^([A-Z_]+):/.exec(message.replace(GIVEN_UP_BEFORE, ""))?.[1];
  return word !== undefined && Object.hasOwn(ERROR_CODES, word) ? (word as ErrorCode) : null;
}

/** Goes with the code of the last attempt: the cause. First, because long messages are cut at their end. */
export const givenUpMessage = (message: string, attempts: number): string =>
  `given up after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}: ${message}`;

/** What this reader can do about a message; null if no code of ours begins it. */
export function remedyFor(message: string, reader: Reader): string | null {
  const code = codeOfMessage(message);
  return code === null ? null : ERROR_CODES[code][reader];
}

/** A message that no code of ours begins (CDL's own failures, say) is taken as resumable. */
export function isResumable(message: string): boolean {
  const code = codeOfMessage(message);
  return code === null || ERROR_CODES[code].resumable;
}
