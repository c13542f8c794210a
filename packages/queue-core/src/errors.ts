/**
 * Why a job or batch can fail: one table. A status message is "CODE: what happened"; docs/errors.md has a heading for
 * each code. `resumable: false` means that nothing an operator does can help: a new submission is needed.
 */
export interface ErrorRow {
  readonly resumable: boolean;
  readonly says: string;
  readonly remedy: string;
}

// prettier-ignore
export const ERROR_CODES = {
  UNEXPECTED:              { resumable: true,  says: "the stage met something it was not written for",        remedy: "read the log of the job; resume when the cause is mended" },
  QUARANTINED:             { resumable: true,  says: "the job brought its worker down again and again",       remedy: "read the workers' logs around its claims; resume when the cause is mended" },
  GIVEN_UP:                { resumable: true,  says: "every attempt of the stage failed in passing ways",     remedy: "see the message of the last attempt; resume when the cause is gone" },
  OPERATOR_FAILED:         { resumable: true,  says: "an operator failed the job",                            remedy: "resume it when it may go on" },
  PAYLOAD_DIGEST_MISMATCH: { resumable: false, says: "the payload is not what the depositor's digest says",   remedy: "submit again with the right payload or digest" },
  PAYLOAD_UNREADABLE:      { resumable: true,  says: "the payload cannot be read",                            remedy: "check the payload's URL; resume" },
  MANIFEST_CORRUPT:        { resumable: false, says: "the manifest breaks the rules named in the message",    remedy: "mend the manifest and submit again" },
  MANIFEST_UNREACHABLE:    { resumable: true,  says: "the manifest could not be fetched",                     remedy: "make the URL reachable; submit again" },
  PROFILE_UNKNOWN:         { resumable: true,  says: "there is no such profile",                              remedy: "add the profile, or submit under another" },
  UNSUPPORTED_TYPE:        { resumable: false, says: "this type of payload is not taken",                     remedy: "submit one of the types the message names" },
  NAME_REFUSED:            { resumable: false, says: "a file name would leave the job's folder",              remedy: "rename the file in the manifest or container and submit again" },
  URL_REFUSED:             { resumable: true,  says: "the address of a file is not one we may fetch from",    remedy: "use a public http or https address, or allow the host" },
  DOWNLOAD_FAILED:         { resumable: true,  says: "a file could not be fetched",                           remedy: "make it reachable; resume" },
  DIGEST_MISMATCH:         { resumable: true,  says: "a file is not what the manifest's digest says",         remedy: "mend the file at its source; resume, or submit again" },
  SIZE_MISMATCH:           { resumable: true,  says: "a file has not the size the manifest gives",            remedy: "mend the file at its source; resume, or submit again" },
  DIGEST_UNSUPPORTED:      { resumable: false, says: "we cannot compute this digest",                         remedy: "use md5, sha-1, sha-256, sha-384, sha-512, crc-32 or adler-32" },
  CONTAINER_CORRUPT:       { resumable: true,  says: "the container is damaged, or is no zip, tar, gzip or bzip2", remedy: "mend it at its source; resume at Downloading, or submit again" },
  CONTAINER_REFUSED:       { resumable: true,  says: "the container holds what is not unpacked, or too much",  remedy: "pack it without what the message names; resume at Downloading, or submit again" },
  CONTAINER_TIMEOUT:       { resumable: true,  says: "the container takes too long to unpack",                remedy: "depositor: submit the content as several smaller containers; operator: if the machine was slow, or `UNPACK_TIMEOUT_MS` is raised, resume at Downloading" },
  METADATA_INVALID:        { resumable: true,  says: "a file of the package that means something to us is wrong", remedy: "mend the file that the message names at its source; resume at Downloading, or submit again" },
  FILES_MISSING:           { resumable: true,  says: "the job's working files are not where they should be",  remedy: "resume at Downloading" },
  IDENTIFIER_CONFLICT:     { resumable: true,  says: "local id and ARK name different objects",               remedy: "mend the identifiers; submit again" },
  COLLECTION_MISMATCH:     { resumable: true,  says: "the ARK or local id names an object of another collection or owner", remedy: "depositor: submit under a profile of the object's collection, or without that ARK or local id; operator: if this profile may change that collection's objects, name the collection as `UpdatesCollection.N` in the profile, then resume (a resume without that fails again)" },
  MINT_FAILED:             { resumable: true,  says: "no identifier could be had",                            remedy: "see the minter; resume" },
  STORE_FAILED:            { resumable: true,  says: "the store refused the object",                          remedy: "see the store; resume" },
  RECORD_FAILED:           { resumable: true,  says: "the inventory refused the object",                      remedy: "see the inventory database; resume" },
  CALLBACK_FAILED:         { resumable: true,  says: "the depositor's system did not take the callback",      remedy: "see the receiver; resume" },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** What the depositor gave is to blame: nobody of the team need look at it. */
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

export function codeOfMessage(message: string): ErrorCode | null {
  const word = /^([A-Z_]+):/.exec(message)?.[1];
  return word !== undefined && Object.hasOwn(ERROR_CODES, word) ? (word as ErrorCode) : null;
}

/** A message that no code of ours begins (CDL's own failures, say) is taken as resumable. */
export function isResumable(message: string): boolean {
  const code = codeOfMessage(message);
  return code === null || ERROR_CODES[code].resumable;
}
